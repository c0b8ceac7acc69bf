// Runs LiveKit Agents for Node: the OpenAI plugin's LLM, speech and recognizers, as an agent session uses them.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { initializeLogger, llm, stt } from '@livekit/agents'
import * as openai from '@livekit/agents-plugin-openai'
import { AudioFrame, AudioResampler, combineAudioFrames } from '@livekit/rtc-node'
import { apiKey, baseURL, collect, recording, report, sentence, withoutCredential } from '../report.mjs'

initializeLogger({ pretty: false, level: 'silent' })
const server = { baseURL, apiKey }
const { FINAL_TRANSCRIPT, INTERIM_TRANSCRIPT } = stt.SpeechEventType

const weather = llm.tool({
  name: 'weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  execute: async ({ city }) => `${city} is sunny.`,
})

/**
 * Asks the LLM. The plugin reports a failed response only as an event on the model, and its stream ends like any other,
 * so the event's error is thrown here.
 */
async function* chat(options = {}, name = 'auto') {
  const chatCtx = llm.ChatContext.empty()
  chatCtx.addMessage({ role: 'user', content: 'Hello?' })
  const model = new openai.LLM({ model: name, ...server })
  let failure = null
  model.on('error', ({ error }) => (failure = error))
  yield* model.chat({ chatCtx, ...options })
  if (failure) throw failure
}

/** Returns the recording at 24 kHz with silence after it, like audio from a microphone. */
function samples(tailS = 2) {
  const file = readFileSync(recording)
  const head = 44
  const pcm = new Int16Array(file.buffer.slice(file.byteOffset + head, file.byteOffset + file.length))
  const resampler = new AudioResampler(file.readUInt32LE(24), 24_000)
  const spoken = [...resampler.push(new AudioFrame(pcm, file.readUInt32LE(24), 1, pcm.length)), ...resampler.flush()]
  return new AudioFrame(
    new Int16Array([...combineAudioFrames(spoken).data, ...new Int16Array(tailS * 24_000)]),
    24_000,
    1,
    spoken.reduce((sum, frame) => sum + frame.samplesPerChannel, tailS * 24_000),
  )
}

async function feed(stream) {
  const { data } = samples()
  for (let at = 0; at + 1200 <= data.length; at += 1200) {
    stream.pushFrame(new AudioFrame(data.slice(at, at + 1200), 24_000, 1, 1200))
    await sleep(50)
  }
}

async function captions() {
  const recognizer = new openai.STT({ model: 'auto', useRealtime: true, vad: null, ...server })
  let failure = new Error('the stream ended without a final transcript')
  recognizer.on('error', ({ error }) => (failure = error))
  const stream = recognizer.stream()
  void feed(stream)
  const captions = []
  for await (const event of stream) {
    const text = event.alternatives?.[0]?.text
    if (event.type === INTERIM_TRANSCRIPT) captions.push(text)
    if (event.type === FINAL_TRANSCRIPT) return { text, captions }
  }
  throw failure
}

async function speak() {
  const stream = new openai.TTS({ model: 'auto', voice: 'alloy', ...server }).synthesize(sentence)
  let seconds = 0
  for await (const { frame } of stream) seconds += frame.samplesPerChannel / frame.sampleRate
  return { seconds }
}

await report({
  chatStream: () => collect(chat(), (part) => part.delta?.content),
  toolCall: async () => {
    const names = []
    for await (const { delta } of chat({ toolCtx: new llm.ToolContext([weather]) }))
      names.push(...(delta?.toolCalls ?? []).map((call) => call.name))
    return names
  },
  transcribe: async () => {
    const event = await new openai.STT({ model: 'auto', useRealtime: false, ...server }).recognize(samples(0))
    return { text: event.alternatives[0].text }
  },
  captions,
  speakSeconds: speak,
  withoutCredential: () => withoutCredential(() => collect(chat({}, 'gpt-4o-mini'), (part) => part.delta?.content)),
})
process.exit(0)
