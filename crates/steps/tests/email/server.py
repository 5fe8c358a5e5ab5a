"""A real mail server (aiosmtpd) that can be told where in a conversation to die.

Its one argument is JSON:
  store     folder; every message that the server has taken becomes a file in it
  tls       "implicit", "starttls" or nothing, with cert and key (paths of PEM files)
  user, password   who may send; mechanism: the only way to say so
  utf8, size       what it offers
  replies   command (MAIL, DATA, END, or "RCPT address") -> what to answer instead
  die       at: ACCEPT GREETING EHLO AUTH MAIL RCPT DATA BODY END STORED REPLIED; how: cut kill hang
It prints the port it listens on, then one line for every command it reads, and LOST for the end of a connection.
"""

import asyncio
import base64
import email
import email.policy
import json
import os
import signal
import ssl
import sys
import threading

from aiosmtpd.smtp import SMTP, AuthResult

told = json.loads(sys.argv[1])
die = told.get("die") or {}
replies = told.get("replies") or {}
count = 0


def keep(envelope):
    """Writes down what was taken, as Python's own reader of mail understands it."""
    global count
    message = email.message_from_bytes(envelope.original_content, policy=email.policy.SMTPUTF8)
    bodies = {kind: message.get_body((kind,)) for kind in ("plain", "html")}
    kept = {
        "from": envelope.mail_from,
        "to": envelope.rcpt_tos,
        "options": envelope.mail_options,
        "headers": [[name, str(value)] for name, value in message.items()],
        "defects": [repr(it) for part in message.walk() for it in part.defects],
        "bodies": {kind: part.get_content() for kind, part in bodies.items() if part},
        "types": [part.get_content_type() for part in message.walk()],
        "files": [
            {
                "name": part.get_filename(),
                "type": part.get_content_type(),
                "charset": part.get_content_charset(),
                "base64": base64.b64encode(part.get_payload(decode=True)).decode(),
            }
            for part in message.iter_attachments()
        ],
    }
    count += 1
    path = os.path.join(told["store"], str(count))
    with open(path + ".new", "w") as file:
        json.dump(kept, file)
    os.rename(path + ".new", path + ".json")


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if f"RCPT {address}" in replies:
            return replies[f"RCPT {address}"]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        await server.stage("END")
        if "END" in replies:
            return replies["END"]
        keep(envelope)
        await server.stage("STORED")
        return "250 2.0.0 OK queued as Q1"


class Server(SMTP):
    body = None

    def fault(self):
        """The end of this conversation, or of this process."""
        if die["how"] == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if die["how"] == "cut":
            self.transport.abort()

    async def stage(self, name):
        if die.get("at") == name:
            self.fault()
            await asyncio.Event().wait()

    async def command(self, name, arg, perform):
        print(name, arg, flush=True)
        await self.stage(name)
        if name in replies:
            await self.push(replies[name])
        else:
            await perform(arg)

    async def _handle_client(self):
        await self.stage("ACCEPT")
        await super()._handle_client()

    async def push(self, status):
        await super().push(status)
        if str(status).startswith("220"):
            await self.stage("GREETING")
        if str(status).startswith("354"):
            self.body = 0

    def connection_lost(self, error):
        print("LOST", flush=True)
        super().connection_lost(error)

    def data_received(self, data):
        if self.body is not None:
            self.body += len(data)
            if die.get("at") == "BODY" and self.body > 65536:
                self.transport.pause_reading()
                return self.fault()
        super().data_received(data)

    async def smtp_EHLO(self, arg):
        await self.command("EHLO", arg, super().smtp_EHLO)

    async def smtp_AUTH(self, arg):
        await self.command("AUTH", arg, super().smtp_AUTH)

    async def smtp_MAIL(self, arg):
        await self.command("MAIL", arg, super().smtp_MAIL)

    async def smtp_RCPT(self, arg):
        await self.command("RCPT", arg, super().smtp_RCPT)

    async def smtp_RSET(self, arg):
        await self.command("RSET", arg, super().smtp_RSET)

    async def smtp_QUIT(self, arg):
        await self.command("QUIT", arg, super().smtp_QUIT)

    async def smtp_DATA(self, arg):
        await self.command("DATA", arg, super().smtp_DATA)
        self.body = None
        await self.stage("REPLIED")


def authenticate(server, session, envelope, mechanism, data):
    wanted = (told["user"].encode(), told["password"].encode())
    return AuthResult(success=(data.login, data.password) == wanted, handled=False)


def made(context):
    login = "user" in told
    only = told.get("mechanism")
    return Server(
        Handler(),
        tls_context=context if told.get("tls") == "starttls" else None,
        require_starttls=told.get("tls") == "starttls",
        auth_required=login,
        auth_require_tls=told.get("tls") == "starttls",
        authenticator=authenticate if login else None,
        auth_exclude_mechanism=[it for it in ("PLAIN", "LOGIN") if only and it != only],
        enable_SMTPUTF8=told.get("utf8", False),
        data_size_limit=told.get("size", 33554432),
    )


def outlive_nobody():
    """Ends with the test that holds the other end of the input, however that ends."""
    sys.stdin.buffer.read()
    os._exit(0)


async def main():
    context = None
    if told.get("tls"):
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(told["cert"], told["key"])
    under = context if told.get("tls") == "implicit" else None
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: made(context), "127.0.0.1", 0, ssl=under)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


threading.Thread(target=outlive_nobody, daemon=True).start()
asyncio.run(main())
