// Runs LangChain's chat model for OpenAI.
import { ChatOpenAI } from '@langchain/openai'
import { apiKey, baseURL, collect, cut, good, report, reset } from './report.mjs'

const chat = (model) => new ChatOpenAI({ model, apiKey, maxRetries: 0, configuration: { baseURL } })
const stream = async (model) => collect(await chat(model).stream('Hello?'), (chunk) => chunk.content)
const schema = (name) => ({ type: 'function', function: { name, parameters: { type: 'object', properties: {} } } })

await report({
  chat: async () => ({ text: (await chat(good).invoke('Hello?')).content }),
  chatStream: () => stream(good),
  usage: async () => {
    const usage = (await chat(good).invoke('Hello?')).usage_metadata
    return { prompt_tokens: usage.input_tokens, completion_tokens: usage.output_tokens }
  },
  tools: async () => {
    const answer = await chat('tools:stub-llm')
      .bindTools([schema('weather'), schema('clock')])
      .invoke('Hello?')
    return answer.tool_calls.map((call) => call.name)
  },
  cutStream: () => stream(cut),
  resetStream: () => stream(reset),
})
