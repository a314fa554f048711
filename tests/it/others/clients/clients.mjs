// clients.mjs CLIENT URL: as clients.py, for the AI SDK, which runs the tool and asks again by itself.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { jsonSchema, stepCountIs, streamText, tool } from 'ai';

const [client, url] = process.argv.slice(2);
const options = { baseURL: `${url}/v1`, apiKey: 'none' };
const models = {
  'ai-sdk-openai': () => createOpenAI(options).chat('m'),
  'ai-sdk-responses': () => createOpenAI(options).responses('m'),
  'ai-sdk-anthropic': () => createAnthropic(options)('m'),
};
const said = {};
const say = error => {
  said.error ??= error.message ?? JSON.stringify(error);
};
// What was said of the stream is said again of each promise of the result.
process.on('unhandledRejection', say);
globalThis.AI_SDK_LOG_WARNINGS = false;
const city = { type: 'object', properties: { city: { type: 'string' } } };
const execute = arguments_ => {
  said.city = arguments_.city;
  return 'sunny';
};
const result = streamText({
  model: models[client](),
  prompt: 'Where?',
  tools: { f: tool({ inputSchema: jsonSchema(city), execute }) },
  stopWhen: stepCountIs(2),
  maxRetries: 2,
  onError: () => {},
});
try {
  for await (const part of result.fullStream) {
    if (part.type === 'error') say(part.error);
  }
  said.text = await result.text;
} catch (error) {
  say(error);
}
console.log(JSON.stringify(said));
