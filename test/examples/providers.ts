/**
 * The providers in the examples: acme has a credential and serves speech to text, LLM and text to speech, globex (LLM)
 * and initech (TTS) have no credential, and hooli recognizes speakers and speaks.
 */
import { type Behaviour, startStubOpenAi } from '../providers/stub-openai.ts'
import { startDeepgramStub } from '../vendors/deepgram/stub.ts'
import { sendJson } from '../vendors/suite/stub-server.ts'

/** Usage without cached tokens and without reasoning tokens. */
export const plainUsage = { prompt_tokens: 31, completion_tokens: 9, total_tokens: 40 }

/** The function call that the contract's examples show. */
export const findTable = {
  kind: 'call',
  id: 'call_1',
  name: 'find_table',
  arguments: '{"seats":4}',
} satisfies Behaviour

/** Returns a Deepgram response in which two people greet each other. */
function conversation(): object {
  const word = (text: string, speaker: number) => ({ ...said(text, speaker), word: text, punctuated_word: text })
  const said = (transcript: string, speaker: number) => ({
    transcript,
    speaker,
    start: speaker,
    end: speaker + 0.5,
    confidence: 0.9,
    channel: 0,
  })
  const words = [word('Hello.', 0), word('Hi', 1), word('there.', 1)]
  const alternatives = [{ transcript: 'Hello. Hi there.', confidence: 0.9, words }]
  return {
    metadata: { request_id: 'stub', duration: 1.5, channels: 1 },
    results: {
      channels: [{ alternatives, detected_language: 'en' }],
      utterances: [said('Hello.', 0), said('Hi there.', 1)],
    },
  }
}

export async function startProviders() {
  const acme = await startStubOpenAi()
  const hooli = await startDeepgramStub()
  hooli.play((response) => sendJson(response, conversation()))
  const baseUrl = `${acme.url}/v1`
  const keyless = { adapter: 'openai', baseUrl, apiKey: 'env:NO_SUCH_KEY' }
  const initech = { ...keyless, id: 'initech' }
  const providers = [
    {
      id: 'acme',
      adapter: 'openai',
      baseUrl,
      apiKey: 'key-of-acme',
      models: { llm: ['chat-large'], stt: ['listen-2'], tts: ['speak-2'] },
    },
    { ...keyless, id: 'globex', models: { llm: ['chat-large'] } },
    { ...initech, models: { tts: ['tone-1'] } },
    {
      id: 'hooli',
      adapter: 'deepgram',
      baseUrl: hooli.url,
      apiKey: 'key-of-hooli',
      models: { stt: ['nova-2'], tts: ['aura-2'] },
    },
  ]
  const lacking = [{ ...initech, models: { stt: ['listen-1'] } }]
  return {
    acme,
    hooli,
    /** The environment for a server with all providers. */
    env: environmentOf(providers),
    /** The environment for a server with only its embedded engines, and no vendor key. */
    withoutKeys: environmentOf(lacking),
    close: () => Promise.all([acme.close(), hooli.close()]),
  }
}

/** The quota is set because examples have its headers. */
const environmentOf = (providers: object[]) => ({
  PARLEY_PROVIDERS: JSON.stringify(providers),
  PARLEY_EDGE_QUOTA: '300',
})
