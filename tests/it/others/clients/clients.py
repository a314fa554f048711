"""clients.py CLIENT URL: asks the server at URL with a provider's own SDK, and runs the tool that the model calls.

Prints a JSON object: the city that the tool was called with and the text of the answer, or the error.
"""

import json
import sys

QUESTION = {"role": "user", "content": "Where?"}


def openai(url):
    from openai import OpenAI

    client = OpenAI(base_url=url + "/v1", api_key="none", max_retries=2)

    def ask(messages):
        with client.chat.completions.stream(model="m", messages=messages) as stream:
            return stream.get_final_completion().choices[0].message

    first = ask([QUESTION])
    call = first.tool_calls[0]
    result = {"role": "tool", "tool_call_id": call.id, "content": "sunny"}
    last = ask([QUESTION, first.model_dump(exclude_none=True), result])
    return json.loads(call.function.arguments), last.content


def responses(url):
    from openai import OpenAI

    client = OpenAI(base_url=url + "/v1", api_key="none", max_retries=2)

    def ask(items):
        with client.responses.stream(model="m", input=items) as stream:
            return stream.get_final_response()

    call = next(item for item in ask([QUESTION]).output if item.type == "function_call")
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}
    last = ask([QUESTION, call.model_dump(exclude_none=True), result])
    return json.loads(call.arguments), last.output_text


def anthropic(url):
    from anthropic import Anthropic

    client = Anthropic(base_url=url, api_key="none", max_retries=2)

    def ask(messages):
        with client.messages.stream(model="m", max_tokens=99, messages=messages) as stream:
            return stream.get_final_message().content

    first = ask([QUESTION])
    call = next(block for block in first if block.type == "tool_use")
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "sunny"}
    own = {"role": "assistant", "content": [block.to_dict() for block in first]}
    last = ask([QUESTION, own, {"role": "user", "content": [result]}])
    return call.input, last[0].text


if __name__ == "__main__":
    client, url = sys.argv[1:]
    try:
        arguments, text = {"openai": openai, "responses": responses, "anthropic": anthropic}[client](url)
        print(json.dumps({"city": arguments["city"], "text": text}))
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}))
