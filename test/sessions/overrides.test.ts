/** Tests which overrides from a client's page the available providers support. */
import t from 'tap'
import type { Pipeline } from '../../domain/records/pipeline.ts'
import type { SessionOverrides } from '../../domain/sessions/overrides.ts'
import { takeOverrides } from '../../domain/sessions/overrides.ts'
import { createSessionRoutes } from '../../domain/speech/session-routes.ts'
import { pipeline } from '../calls/call.ts'
import { bench, caller, model, provider } from '../domain/fakes.ts'

const voices = ['ada', 'bob'].map((id) => ({ id, name: id, gender: 'female' as const, styles: [] }))
const languages = ['en', 'de']
const everything = { ...model('llm').capabilities, tools: true, streaming: true, speed: true }
function routesWith(speed: boolean) {
  const { deps } = bench([
    provider('p', [
      model('stt', { languages, capabilities: { ...model('stt').capabilities, streaming: true } }),
      model('llm', { languages: ['*'], capabilities: everything }),
      model('tts', { languages, voices, capabilities: { ...everything, speed } }),
    ]),
  ])
  return createSessionRoutes(deps.chooser, () => {})
}
const base: Pipeline = { ...pipeline, intent: { ...pipeline.intent, language: 'en' }, voice: 'ada', tools: [] }

function take(overrides: SessionOverrides, hasSpeed = true) {
  const { pipeline: taken, unserved } = takeOverrides(routesWith(hasSpeed), caller(), base, overrides)
  return { language: taken?.intent.language, voice: taken?.voice, prompt: taken?.systemPrompt, unserved }
}

t.test('overrides that a provider supports are applied', (t) => {
  const wanted = { language: 'de', voiceId: 'bob', speed: 1.2, prompt: 'Be kind.' }
  t.same(take(wanted), { language: 'de', voice: 'bob', prompt: 'Be kind.', unserved: [] })
  t.same(takeOverrides(routesWith(true), caller(), base, {}), { pipeline: null, unserved: [] })
  t.end()
})

t.test('overrides that no provider supports are dropped, and all others are applied', (t) => {
  const prompt = 'Be kind.'
  t.same(take({ prompt, language: 'xx', voiceId: 'bob' }), {
    language: 'en',
    voice: 'bob',
    prompt,
    unserved: ['language'],
  })
  t.same(take({ prompt, language: 'de', voiceId: 'eve' }), {
    language: 'de',
    voice: 'ada',
    prompt,
    unserved: ['voiceId'],
  })
  t.same(take({ prompt, language: 'not a tag' }), { language: 'en', voice: 'ada', prompt, unserved: ['language'] })
  const both = { language: 'en', voice: 'ada', prompt, unserved: ['language', 'voiceId'] }
  t.same(take({ prompt, language: 'xx', voiceId: 'eve' }), both)
  t.same(take({ prompt, voiceId: 'bob', speed: 1.2 }, false), {
    language: 'en',
    voice: 'bob',
    prompt,
    unserved: ['speed'],
  })
  const voiceAndSpeed = { language: 'en', voice: 'ada', prompt, unserved: ['voiceId', 'speed'] }
  t.same(take({ prompt, voiceId: 'eve', speed: 1.2 }, false), voiceAndSpeed)
  t.end()
})
