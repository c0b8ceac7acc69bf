/** Models, recordings, speech, and LLM answers, whole and as streams. */
import type { CreateResponseCall, CreateResponseEvent } from '../../../../generated/clients/typescript/router.ts'
import { compat, loopback, question, recording, router, type Steps, text, wordsOf } from './settings.ts'

const speech = { input: text, routing: loopback, audio: { encoding: 'pcm_s16le', sample_rate_hz: 24_000 } } as const
const messages = [{ role: 'user', content: text } as const]

export const modelSteps: Steps = {
  async models() {
    const { body } = await router.listModels()
    return {
      kinds: body.models
        .filter(({ provider }) => provider === 'loopback')
        .map(({ kind }) => kind)
        .sort(),
    }
  },
  async transcription() {
    const { body } = await router.createTranscription({ body: { request: { language: 'en' }, audio: recording } })
    return { words: wordsOf(body.text) }
  },
  async raw_transcription() {
    const answer = await compat.transcribe({ body: new Blob([recording]).stream() })
    if (answer.type !== 'application/json') throw new Error(answer.type)
    return { words: wordsOf(answer.body.text) }
  },
  async speech() {
    const { body } = await router.createSpeech({ body: speech })
    return { bytes: (await new Response(body).arrayBuffer()).byteLength }
  },
  async speech_chunks() {
    const { body } = await router.createSpeech({ body: speech })
    let bytes = 0
    for await (const chunk of body) bytes += chunk.length
    return { bytes }
  },
  async llm() {
    const answer = await router.createResponse({
      body: { input: [question], max_output_tokens: 20, routing: loopback },
    })
    if (answer.type !== 'application/json') throw new Error(answer.type)
    const [item] = answer.body.output
    return {
      text: item?.type === 'message' ? item.content.map((part) => part.text).join('') : null,
      stop_reason: answer.body.stop_reason,
    }
  },
  async llm_stream() {
    const events = await streamed({ input: [question], max_output_tokens: 20, routing: loopback })
    const last = events.at(-1)?.event
    const deltas = events.flatMap(({ event, data }) => (event === 'response.text.delta' ? [data.delta] : []))
    return { text: deltas.join(''), last, terminal_events: events.filter(({ event }) => event === last).length }
  },
  async llm_tool() {
    const tool = { name: 'weather', parameters: { type: 'object', properties: {} } } as const
    const routing = { mode: 'explicit', model: 'tools/tools' } as const
    const events = await streamed({ input: [question], max_output_tokens: 20, routing, tools: [tool] })
    const deltas = events.flatMap(({ event, data }) =>
      event === 'response.function_call_arguments.delta' ? [data.delta] : [],
    )
    const added = events.find(({ event }) => event === 'response.item.added')
    const name =
      added?.event === 'response.item.added' && added.data.item.type === 'function_call' ? added.data.item.name : null
    return { name, arguments: deltas.join(''), last: events.at(-1)?.event }
  },
  async chat() {
    const answer = await compat.createChatCompletion({ body: { model: loopback.model, messages } })
    if (answer.type !== 'application/json') throw new Error(answer.type)
    return { text: answer.body.choices[0]?.message.content }
  },
  async chat_stream() {
    const answer = await compat.createChatCompletion({ body: { model: loopback.model, messages, stream: true } })
    if (answer.type !== 'text/event-stream') throw new Error(answer.type)
    let text = ''
    for await (const { choices } of answer.body) text += choices[0]?.delta.content ?? ''
    return { text }
  },
}

async function streamed(body: CreateResponseCall['body']): Promise<CreateResponseEvent[]> {
  const answer = await router.createResponse({ body: { ...body, stream: true } })
  if (answer.type !== 'text/event-stream') throw new Error(answer.type)
  const events: CreateResponseEvent[] = []
  for await (const event of answer.body) events.push(event)
  return events
}
