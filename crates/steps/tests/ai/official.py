"""Asks the model of the tests with the official client libraries, so that it is no model of our own fancy.

    official.py BASE KEY

The libraries build the requests; what comes back is read strictly by their own types. Prints what each saw,
as JSON.
"""

import json
import sys

import anthropic
import openai
from anthropic.types import Message
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

BASE, KEY = sys.argv[1:]
SCHEMA = {
    "type": "object",
    "properties": {"mood": {"type": "string", "enum": ["good", "bad"]}, "score": {"type": "integer"}},
    "required": ["mood", "score"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": True}

gpt = openai.OpenAI(base_url=BASE + "/v1", api_key=KEY, max_retries=0)
asker = anthropic.Anthropic(base_url=BASE, api_key=KEY, max_retries=0)
asked = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "How are you?"}]


def strictly(kind, raw):
    """The answer as the library's type has it; anything else than the type says is an error."""
    return kind.model_validate_json(raw.http_response.content)


def chat(model="echo", **more):
    raw = gpt.chat.completions.with_raw_response.create(model=model, messages=asked, **more)
    it = strictly(ChatCompletion, raw)
    choice = it.choices[0]
    told = choice.message.content or choice.message.refusal
    return [told, choice.finish_reason, it.usage.prompt_tokens, it.usage.completion_tokens]


def responses(model="echo", **more):
    raw = gpt.responses.with_raw_response.create(model=model, input=asked, **more)
    it = strictly(Response, raw)
    why = it.incomplete_details.reason if it.incomplete_details else it.status
    return [it.output_text, why, it.usage.input_tokens, it.usage.output_tokens]


def messages(model="echo", **more):
    system = [{"type": "text", "text": "Be short."}]
    raw = asker.messages.with_raw_response.create(
        model=model, max_tokens=100, system=system, messages=asked[1:], **more
    )
    it = strictly(Message, raw)
    block = it.content[0]
    told = block.text if block.type == "text" else json.dumps(block.input)
    usage = it.usage
    return [told, it.stop_reason, usage.input_tokens + usage.cache_read_input_tokens, usage.output_tokens]


TOOL = {"name": "answer", "input_schema": SCHEMA}
seen = {
    "chat": [
        chat(),
        chat(response_format={"type": "json_schema", "json_schema": {k: FORMAT[k] for k in ("name", "schema", "strict")}}),
        chat("length", max_tokens=5),
        chat("refuse"),
        chat("filter"),
    ],
    "responses": [
        responses(store=False),
        responses(text={"format": FORMAT}),
        responses("length", max_output_tokens=16),
        responses("broken"),
    ],
    "messages": [
        messages(),
        messages(tools=[TOOL], tool_choice={"type": "tool", "name": "answer"}),
        messages("length"),
        messages("refuse"),
    ],
}
errors = []
for model, client, ask in [
    ("401", openai.AuthenticationError, chat),
    ("429-7", openai.RateLimitError, responses),
    ("500", openai.InternalServerError, chat),
    ("529", anthropic.APIStatusError, messages),
    ("400", anthropic.BadRequestError, messages),
    ("cut", openai.APIConnectionError, chat),
    ("cut", anthropic.APIConnectionError, messages),
]:
    try:
        ask(model)
    except client as error:
        errors.append(f"{model}: {type(error).__name__}")
seen["errors"] = errors
print(json.dumps(seen))
