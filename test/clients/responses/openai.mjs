// Calls OpenAI's Responses API with its official client, with only a base URL and a key set.
import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { apiKey, baseURL, collect, report, withoutCredential } from '../report.mjs'

const client = new OpenAI({ baseURL, apiKey })
const request = { model: 'auto', input: 'Hello?' }
const weather = {
  type: 'function',
  name: 'weather',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: true,
}
const delta = (event) => (event.type === 'response.output_text.delta' ? event.delta : undefined)
const stream = async () => collect(await client.responses.create({ ...request, stream: true }), delta)

const steps = {
  respond: async () => {
    const { output_text: text, usage } = await client.responses.create({ ...request, instructions: 'Be brief.' })
    return { text, tokens: [usage.input_tokens, usage.output_tokens] }
  },
  stream,
  streamed: async () => ({ text: (await client.responses.stream(request).finalResponse()).output_text }),
  parse: async () => {
    const format = zodTextFormat(z.object({ city: z.string() }), 'place')
    return (await client.responses.parse({ ...request, text: { format } })).output_parsed
  },
  tools: async () => {
    const input = [{ role: 'user', content: 'How is the weather?' }]
    const asked = await client.responses.create({ model: 'auto', input, tools: [weather] })
    const [call] = asked.output.filter((item) => item.type === 'function_call')
    const result = { type: 'function_call_output', call_id: call.call_id, output: 'rain' }
    const answer = await client.responses.create({
      model: 'auto',
      input: [...input, ...asked.output, result],
      tools: [weather],
    })
    return { arguments: JSON.parse(call.arguments), text: answer.output_text }
  },
  toolStream: async () => {
    const { output } = await client.responses.stream({ ...request, tools: [weather] }).finalResponse()
    return output.map((item) => [item.name, JSON.parse(item.arguments)])
  },
  previous: () => client.responses.create({ ...request, previous_response_id: 'resp_1' }),
  hosted: () => client.responses.create({ ...request, tools: [{ type: 'web_search' }] }),
  withoutCredential: () => withoutCredential(() => client.responses.create({ ...request, model: 'gpt-4o-mini' })),
}
const broken = { brokenStream: stream, brokenStreamed: () => client.responses.stream(request).finalResponse() }

await report(process.argv[2] === 'broken' ? broken : steps)
