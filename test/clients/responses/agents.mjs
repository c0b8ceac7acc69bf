// Runs OpenAI's Agents SDK with its defaults and a tool. Traces are off, because they would go to OpenAI.
import { Agent, run, setDefaultOpenAIClient, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import { apiKey, baseURL, collect, report, withoutCredential } from '../report.mjs'

setDefaultOpenAIClient(new OpenAI({ baseURL, apiKey }))
setTracingDisabled(true)

const place = z.object({ city: z.string() })
const weather = tool({
  name: 'weather',
  description: 'The weather.',
  parameters: place,
  execute: ({ city }) => `rain in ${city}`,
})
const plain = new Agent({ name: 'Receptionist', instructions: 'Be brief.', model: 'auto' })
const withTool = new Agent({ name: 'Receptionist', instructions: 'Be brief.', model: 'auto', tools: [weather] })
const typed = new Agent({ name: 'Reader', instructions: 'Read.', model: 'auto', outputType: place })
const unserved = new Agent({ name: 'Receptionist', instructions: 'Be brief.', model: 'gpt-4o-mini' })
const stream = async (agent) => {
  const result = await run(agent, 'How is the weather?', { stream: true })
  const text = await collect(result.toTextStream(), (piece) => piece)
  await result.completed
  return text
}

const steps = {
  respond: async () => ({ text: (await run(plain, 'Hello?')).finalOutput }),
  stream: () => stream(plain),
  parse: async () => (await run(typed, 'Where?')).finalOutput,
  tools: async () => ({ text: (await run(withTool, 'How is the weather?')).finalOutput }),
  toolStream: () => stream(withTool),
  secondTurn: async () => {
    const first = await run(plain, 'Hello?')
    return { text: (await run(plain, [...first.history, { role: 'user', content: 'And now?' }])).finalOutput }
  },
  withoutCredential: () => withoutCredential(() => run(unserved, 'Hello?')),
}

await report(process.argv[2] === 'broken' ? { brokenStream: () => stream(plain) } : steps)
