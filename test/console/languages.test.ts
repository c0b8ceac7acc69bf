/** The page /try/agent offers the languages that the server can both recognize and speak. */
import t from 'tap'
import { conversationLanguages, voicesOf } from '../../console/try/languages.js'

const model = (stage: string, ...languages: string[]) => ({ stage, languages, routable: true, streaming: true })

t.test('the page offers languages that both stt and tts models support, English first', (t) => {
  const recognizers = [model('stt', 'de', 'en'), model('stt', 'fr'), model('llm', '*')]
  t.same(conversationLanguages([...recognizers, model('tts', 'de', 'en', 'it')]), ['en', 'de'])
  t.same(conversationLanguages([...recognizers, model('tts', '*')]), ['en', 'de', 'fr'])
  t.same(conversationLanguages([model('stt', '*'), model('tts', 'pl')]), ['pl'])
  t.same(conversationLanguages([model('stt', 'pt-BR', 'zh-TW'), model('tts', 'pt', 'zh-CN')]), ['pt', 'zh'])
  t.end()
})

t.test('languages of models that are not routable or do not stream are not offered', (t) => {
  const models = [model('stt', 'en', 'de'), model('tts', 'en')]
  t.same(conversationLanguages([...models, { ...model('tts', 'de'), routable: false }]), ['en'])
  t.same(conversationLanguages([...models, { ...model('tts', 'de'), streaming: false }]), ['en'])
  t.end()
})

t.test('if all models accept any language, frequent languages are offered', (t) => {
  t.match(conversationLanguages([model('stt', '*'), model('tts', '*')]), ['en', 'de', 'es'])
  t.same(conversationLanguages([]), ['en'])
  t.end()
})

t.test('the page offers the voices for the chosen language', (t) => {
  const anna = { id: 'anna', language: 'de-AT' }
  const bob = { id: 'bob', language: 'en' }
  const any = { id: 'any' }
  const models = [
    { ...model('tts', 'de', 'en'), voices: [anna, bob] },
    { ...model('tts', '*'), voices: [any] },
  ]
  t.same(voicesOf(models, 'de'), [anna, any])
  t.same(voicesOf(models, 'en-GB'), [bob, any])
  t.same(voicesOf(models, ''), [anna, bob, any])
  t.same(voicesOf([{ ...models[0]!, routable: false }], 'de'), [])
  t.end()
})
