// Runs the AI SDK with its defaults: `openai('auto')` uses the Responses API.
import { createOpenAI } from '@ai-sdk/openai'
import { generateObject, generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { apiKey, baseURL, collect, report, withoutCredential } from '../report.mjs'

const openai = createOpenAI({ baseURL, apiKey })
const model = openai('auto')
const request = { model, prompt: 'Hello?' }
const place = z.object({ city: z.string() })
const weather = tool({ description: 'The weather.', inputSchema: place, execute: ({ city }) => `rain in ${city}` })
const agent = { ...request, tools: { weather }, stopWhen: stepCountIs(3) }
const stream = (options) => {
  const { fullStream } = streamText({ ...options, onError: () => {} })
  return collect(fullStream, (part) => {
    if (part.type === 'error') throw part.error
    return part.type === 'text-delta' ? part.text : undefined
  })
}
/** Asks a conversation's second question, with the first answer in the form in which the SDK keeps it. */
const secondTurn = async (options) => {
  const first = { role: 'user', content: 'Hello?' }
  const { response } = await generateText({ model, messages: [first], ...options })
  const messages = [first, ...response.messages, { role: 'user', content: 'And now?' }]
  return { text: (await generateText({ model, messages, ...options })).text }
}

const steps = {
  respond: async () => {
    const { text, usage } = await generateText({ ...request, system: 'Be brief.' })
    return { text, tokens: [usage.inputTokens, usage.outputTokens] }
  },
  stream: () => stream(request),
  parse: async () => (await generateObject({ ...request, schema: place })).object,
  tools: async () => {
    const { text, steps } = await generateText(agent)
    return { arguments: steps[0].toolCalls[0].input, text }
  },
  toolStream: () => stream(agent),
  secondTurn: () => secondTurn({ providerOptions: { openai: { store: false } } }),
  reference: () => secondTurn({}),
  withoutCredential: () => withoutCredential(() => generateText({ ...request, model: openai('gpt-4o-mini') })),
}

await report(process.argv[2] === 'broken' ? { brokenStream: () => stream(request) } : steps)
