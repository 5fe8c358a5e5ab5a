"""A model on this machine that speaks chat completions, responses and messages, and counts.

    server.py LOG

Prints its port, and ends when its input does. Every question is written to LOG as one line of JSON before
anything is answered. What becomes of a question is said by the name of the model that is asked:

    echo            repeats the question, or gives JSON that fits the schema
    cut, hang       hangs up after the question, or never answers
    cut-once        hangs up after the first question, and answers the others
    401, 429, 500…  answers that status; `429-7` with Retry-After: 7
    not-json        says something else where JSON was wanted
    misfit          gives JSON that does not fit the schema
    refuse, length, filter, empty, broken
    malformed, page, other    an answer that is cut short, HTML, or JSON of something else

It is as strict as the real ones about what it is sent: official client libraries are run against it, too.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-c4nary-key"
LOG = threading.Lock()
SEEN = []


class Refused(Exception):
    """What a real API answers 400 to."""


def need(true, why):
    if not true:
        raise Refused(why)


def fitting(schema):
    """A value that fits a plain schema."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {name: fitting(it) for name, it in schema.get("properties", {}).items()}
    if kind == "array":
        return [fitting(schema["items"])]
    return {"string": "some text", "integer": 7, "number": 0.25, "boolean": True}.get(kind)


def misfit(schema):
    """The same with the first member of another kind."""
    value = fitting(schema)
    value[next(iter(value))] = {"not": "so"}
    return value


def words(*texts):
    return sum(len(text.split()) for text in texts)


class Question:
    """What all three have in common."""

    def __init__(self, body, texts, schema):
        self.model = body["model"]
        self.texts = texts
        self.schema = schema
        self.most = None

    def said(self):
        """The text, or the JSON, of the answer."""
        if self.model == "empty":
            return ""
        if self.schema is None:
            return "You said: " + self.texts[-1]
        if self.model == "not-json":
            return "Sure! Here it is."
        return misfit(self.schema) if self.model == "misfit" else fitting(self.schema)

    def text(self):
        said = self.said()
        return said if isinstance(said, str) else json.dumps(said)

    def tokens(self):
        return words(*self.texts), words(self.text())


def of_chat(body):
    need(isinstance(body.get("model"), str), "you must provide a model parameter")
    messages = body.get("messages")
    need(isinstance(messages, list) and messages, "messages must not be empty")
    for message in messages:
        need(message.get("role") in ("system", "user", "assistant"), "unknown role")
        need(isinstance(message.get("content"), str), "content must be a string")
    known = {"model", "messages", "temperature", "max_tokens", "max_completion_tokens", "response_format"}
    need(set(body) <= known, "unknown parameter: " + ", ".join(set(body) - known))
    schema = None
    if "response_format" in body:
        wanted = body["response_format"]
        need(wanted.get("type") == "json_schema", "unknown response_format")
        need(wanted["json_schema"].get("name"), "missing json_schema.name")
        schema = wanted["json_schema"]["schema"]
        strict(schema, wanted["json_schema"].get("strict"))
    return Question(body, [message["content"] for message in messages], schema)


def strict(schema, is_strict):
    """What a strict schema must say, at every level."""
    if not is_strict or not isinstance(schema, dict):
        return
    if schema.get("type") == "object":
        need(schema.get("additionalProperties") is False, "additionalProperties must be false")
        need(set(schema.get("required", [])) == set(schema["properties"]), "all must be required")
        for inner in schema["properties"].values():
            strict(inner, True)


def chat(question):
    stop = {"length": "length", "filter": "content_filter"}.get(question.model, "stop")
    refusal = "I cannot help with that." if question.model == "refuse" else None
    read, said = question.tokens()
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": question.model + "-2026",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": None if refusal else question.text(),
                    "refusal": refusal,
                },
                "logprobs": None,
                "finish_reason": stop,
            }
        ],
        "usage": {"prompt_tokens": read, "completion_tokens": said, "total_tokens": read + said},
    }


def of_responses(body):
    need(isinstance(body.get("model"), str), "missing required parameter: model")
    messages = body.get("input")
    need(isinstance(messages, list) and messages, "missing required parameter: input")
    for message in messages:
        need(message.get("role") in ("system", "user", "assistant"), "unknown role")
        need(isinstance(message.get("content"), str), "content must be a string")
    known = {"model", "input", "temperature", "max_output_tokens", "text", "store"}
    need(set(body) <= known, "unknown parameter: " + ", ".join(set(body) - known))
    schema = None
    if "text" in body:
        wanted = body["text"]["format"]
        need(wanted.get("type") == "json_schema" and wanted.get("name"), "unknown text.format")
        schema = wanted["schema"]
        strict(schema, wanted.get("strict"))
    return Question(body, [message["content"] for message in messages], schema)


def responses(question):
    read, said = question.tokens()
    content = {"type": "output_text", "text": question.text(), "annotations": [], "logprobs": []}
    if question.model == "refuse":
        content = {"type": "refusal", "refusal": "I cannot help with that."}
    reason = {"length": "max_output_tokens", "filter": "content_filter"}.get(question.model)
    failed = question.model == "broken"
    status = "failed" if failed else "incomplete" if reason else "completed"
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [content]}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1700000000,
        "status": status,
        "error": {"code": "server_error", "message": "The model fell over."} if failed else None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": None,
        "metadata": {},
        "model": question.model + "-2026",
        "output": [{"type": "reasoning", "id": "rs_1", "summary": []}] + ([] if failed else [message]),
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": said,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + said,
        },
    }


def of_messages(body):
    need(isinstance(body.get("max_tokens"), int), "max_tokens: Field required")
    messages = body.get("messages")
    need(isinstance(messages, list) and messages, "messages: Field required")
    for message in messages:
        need(message.get("role") in ("user", "assistant"), 'messages: Unexpected role "system"')
        need(isinstance(message.get("content"), str), "messages: content")
    known = {"model", "messages", "system", "temperature", "max_tokens", "tools", "tool_choice"}
    need(set(body) <= known, ", ".join(set(body) - known) + ": Extra inputs are not permitted")
    system = body.get("system", [])
    system = [system] if isinstance(system, str) else [block["text"] for block in system]
    schema = None
    if "tool_choice" in body:
        tools = {tool["name"]: tool["input_schema"] for tool in body["tools"]}
        schema = tools.get(body["tool_choice"].get("name"))
        need(schema and schema.get("type") == "object", "tools.0.input_schema.type: Input should be 'object'")
    return Question(body, system + [message["content"] for message in messages], schema)


def messages(question):
    said = question.said()
    block = {"type": "text", "text": said}
    if isinstance(said, dict):
        block = {"type": "tool_use", "id": "toolu_1", "name": "answer", "input": said}
    stop = {"length": "max_tokens", "refuse": "refusal"}.get(question.model)
    read, out = question.tokens()
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": question.model + "-2026",
        "content": [block] if said else [],
        "stop_reason": stop or ("tool_use" if isinstance(said, dict) else "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": read - 1,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 1,
            "output_tokens": out,
        },
    }


APIS = {
    "/v1/chat/completions": (of_chat, chat),
    "/v1/responses": (of_responses, responses),
    "/v1/messages": (of_messages, messages),
}


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, text, kind="application/json", **headers):
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def error(self, status, words, **headers):
        kind = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
        error = {"type": kind.get(status, "invalid_request_error"), "message": words}
        told = {"type": "error", "error": error} if self.path.endswith("/messages") else {"error": error}
        self.answer(status, json.dumps(told), **headers)

    def key(self):
        # Anthropic documents its own header; its client library has come to send the other.
        if self.path.endswith("/messages") and self.headers.get("x-api-key"):
            return self.headers["x-api-key"]
        return (self.headers.get("authorization") or "").removeprefix("Bearer ")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        model = body.get("model", "")
        with LOG:
            SEEN.append(model)
            first = SEEN.count(model) == 1
            with open(sys.argv[1], "a", encoding="utf-8") as log:
                log.write(json.dumps({"path": self.path, "key": self.key(), "body": body}) + "\n")
        if model == "hang":
            threading.Event().wait()
        if model == "cut" or (model == "cut-once" and first):
            self.close_connection = True
            return
        status, _, after = model.partition("-")
        if status.isdigit():
            more = {"retry_after": after} if after else {}
            return self.error(int(status), "not now", **more)
        if self.path not in APIS:
            return self.error(404, "no such path: " + self.path)
        if self.key() != KEY:
            return self.error(401, "Incorrect API key provided: " + str(self.key()))
        if self.path.endswith("/messages") and not self.headers.get("anthropic-version"):
            return self.error(400, "anthropic-version: header is required")
        read, write = APIS[self.path]
        try:
            said = write(read(body))
        except Refused as why:
            return self.error(400, str(why))
        text = json.dumps(said)
        if model == "malformed":
            text = text[: len(text) // 2]
        if model == "other":
            text = '{"status":"ok"}'
        if model == "page":
            return self.answer(200, "<html>Welcome to the proxy</html>", "text/html")
        self.answer(200, text)


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
