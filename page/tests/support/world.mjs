// Destinations on this machine that write down what they were asked. What they saw is what counts.

import { createServer } from "node:http";

/** A server that obeys; `lose`, `refuse`, `hold` and `slow` make it behave like a real one on a bad day. */
export async function openWorld() {
  const seen = [];
  const rules = [];
  const waiting = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const call = { method: request.method, path: request.url, headers: request.headers, body: text === "" ? null : JSON.parse(text) };
      seen.push(call);
      waiting.splice(0).forEach((look) => look());
      answer(call, response);
    });
  });
  const answer = (call, response) => {
    const rule = rules.find((one) => one.left > 0 && call.path.startsWith(one.path));
    if (rule) rule.left -= 1;
    const id = `${call.path.split("/")[1]?.slice(0, 2)}_${String(seen.length).padStart(4, "0")}`;
    const done = () => {
      response.writeHead(rule?.status ?? 200, { "Content-Type": "application/json" });
      response.end(JSON.stringify(rule?.body ?? { id, ok: true }));
    };
    if (rule?.what === "lose") response.socket.destroy();
    else if (rule?.what === "hold") rule.held.push(done);
    else if (rule?.what === "slow") setTimeout(done, rule.ms);
    else done();
  };
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const rule = (what, path, more = {}) => {
    const made = { what, path, left: 1, held: [], ...more };
    rules.push(made);
    return made;
  };
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    seen,
    count: (path) => seen.filter((call) => call.path.startsWith(path)).length,
    /** The next answers of a path are lost although the request was obeyed. */
    lose: (path, times = 1) => rule("lose", path, { left: times }),
    refuse: (path, status, times = 1) => rule("refuse", path, { status, left: times, body: { error: "no" } }),
    slow: (path, ms, times = 1) => rule("slow", path, { ms, left: times }),
    /** The next answer of a path waits until `go` is called. */
    hold: (path) => {
      const made = rule("hold", path);
      return { go: () => made.held.splice(0).forEach((done) => done()) };
    },
    /** Waits until so many calls of a path were seen. */
    async until(path, times) {
      while (seen.filter((call) => call.path.startsWith(path)).length < times) await new Promise((resolve) => waiting.push(resolve));
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
