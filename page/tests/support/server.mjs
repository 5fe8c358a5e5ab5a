// A server of our own: the debug binary on a data directory that is thrown away afterwards.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

export function binary() {
  const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
  const path = process.env.SEMEL ?? join(target, "debug/semel");
  if (!existsSync(path)) throw new Error(`${path} is missing: cargo build -p semel`);
  return path;
}

/** Starts a server; `restart` stops it and starts it again at the same address. */
export async function openServer({ flows, world }) {
  const data = await mkdtemp(join(tmpdir(), "semel-page-"));
  const server = { data, process: null, url: null, token: null, setup: null };
  const start = async (listen) => {
    const environment = { ...process.env, SEMEL_OUTGOING_ALLOW: "127.0.0.1", SEMEL_LOG: "info" };
    server.process = spawn(binary(), ["serve", "--json", "--data", data, "--listen", listen, "--drain", "1s"], { env: environment });
    await listening(server);
  };
  const stop = async (signal = "SIGTERM") => {
    const ended = new Promise((resolve) => server.process.once("exit", resolve));
    server.process.kill(signal);
    await ended;
  };
  await start("127.0.0.1:0");
  server.token = (await readFile(join(data, "token"), "utf8")).trim();
  server.api = (method, path, body, headers = {}) => ask(server, method, path, body, headers);
  server.stop = stop;
  server.restart = async () => {
    await stop("SIGKILL");
    await start(new URL(server.url).host);
  };
  server.start = () => start(new URL(server.url).host);
  server.close = async () => {
    if (server.process.exitCode === null && server.process.signalCode === null) await stop("SIGKILL");
    await rm(data, { recursive: true, force: true });
  };
  for (const source of Object.values(flows(world))) {
    const { status, body } = await server.api("POST", "/v1/flows", { source });
    if (status !== 200) throw new Error(`a flow was refused: ${JSON.stringify(body)}`);
  }
  return server;
}

/** Waits until it says where it listens, and with which link the first account is made. */
function listening(server) {
  return new Promise((resolve, reject) => {
    const said = [];
    createInterface({ input: server.process.stderr }).on("line", (line) => said.push(line));
    let told = "";
    createInterface({ input: server.process.stdout }).on("line", (line) => {
      told += line;
      if (line !== "}") return;
      const { url, setup_url: setup } = JSON.parse(told);
      Object.assign(server, { url, setup: setup ?? server.setup });
      resolve();
    });
    server.process.once("exit", (code) => reject(new Error(`the server ended with ${code}:\n${said.join("\n")}`)));
  });
}

async function ask(server, method, path, body, headers) {
  const response = await fetch(server.url + path, {
    method,
    headers: { Authorization: `Bearer ${server.token}`, ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : JSON.parse(text) };
}
