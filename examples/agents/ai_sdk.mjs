// One session of the Vercel AI SDK: an agent with one tool, five turns, two requests each or more.
// Usage: node ai_sdk.mjs DIALECT URL MODEL, with a session (see run.py) on stdin.
// Prints one line of JSON per request.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createDeepSeek } from '@ai-sdk/deepseek';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, isStepCount, streamText, tool } from 'ai';
import { text } from 'node:stream/consumers';

const [dialect, url, model] = process.argv.slice(2);
const { rules, questions, weather } = JSON.parse(await text(process.stdin));
const key = { apiKey: 'anything' };
const ephemeral = { anthropic: { cacheControl: { type: 'ephemeral' } } };

const models = {
  'openai chat': () => createOpenAI({ ...key, baseURL: `${url}/v1` }).chat(model),
  'openai responses': () => createOpenAI({ ...key, baseURL: `${url}/v1` }).responses(model),
  anthropic: () => createAnthropic({ ...key, baseURL: `${url}/v1` })(model),
  gemini: () => createGoogleGenerativeAI({ ...key, baseURL: `${url}/v1beta` })(model),
  deepseek: () => createDeepSeek({ ...key, baseURL: url })(model),
};

const settings = {
  model: models[dialect](),
  instructions: { role: 'system', content: rules, providerOptions: ephemeral },
  tools: {
    weather: tool({
      description: 'The weather in a city.',
      inputSchema: jsonSchema({
        type: 'object',
        properties: { city: { type: 'string', enum: Object.keys(weather) } },
        required: ['city'],
        additionalProperties: false,
      }),
      execute: async ({ city }) => weather[city],
    }),
  },
  // A model of 135M parameters hardly calls a tool unasked.
  prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? 'required' : 'auto' }),
  stopWhen: isStepCount(2),
  temperature: 0,
  maxOutputTokens: 256,
  maxRetries: 0,
  // Anthropic's automatic marker: the end of each request is written.
  providerOptions: ephemeral,
};

const messages = [];
let failure;
for (const [number, question] of questions.entries()) {
  messages.push({ role: 'user', content: question });
  const whole = number % 2 === 0;
  const result = whole
    ? await generateText({ ...settings, messages })
    : streamText({ ...settings, messages, onError: ({ error }) => { failure = error; } });
  if (!whole) await result.consumeStream();
  if (failure) throw failure;
  const steps = await result.steps;
  for (const { usage, toolCalls } of steps) {
    const { cacheReadTokens = 0, cacheWriteTokens = 0 } = usage.inputTokenDetails;
    console.log(JSON.stringify({
      turn: number + 1,
      called: toolCalls.map(({ input }) => input.city),
      prompt: usage.inputTokens,
      read: cacheReadTokens,
      written: cacheWriteTokens,
    }));
  }
  messages.push(...await result.responseMessages);
}
