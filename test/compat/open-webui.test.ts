/** The lists of speech voices and models. Interfaces such as Open WebUI fill their settings with them. */
import t from 'tap'
import { send } from '../router/requests.ts'
import { serverWith } from '../server.ts'

const parley = await serverWith()

t.test('listCompatVoices and listCompatSpeechModels list names that createCompatSpeech accepts', async (t) => {
  const { voices } = (await send(parley, '/v1/audio/voices', {})).json<{ voices: { id: string; name: string }[] }>()
  t.same(voices[0], { id: 'auto', name: 'Chosen by the router' })
  t.ok(voices.length > 1 && voices.every(({ id, name }) => id.length > 0 && name.length > 0))
  t.equal(new Set(voices.map(({ id }) => id)).size, voices.length, 'each once')
  const { models } = (await send(parley, '/v1/audio/models', {})).json<{ models: { id: string }[] }>()
  t.same(models[0], { id: 'auto' })
  t.match(models[1]?.id, /^local:/)
  const last = { model: models.at(-1)?.id, voice: voices.at(-1)?.id, input: 'Hello.', response_format: 'wav' }
  const headers = { 'content-type': 'application/json' }
  const spoken = await send(parley, '/v1/audio/speech', { method: 'POST', body: JSON.stringify(last), headers })
  t.equal(spoken.status, 200, 'both are taken')
})

t.test('listCompatVoices and listCompatSpeechModels need no key', async (t) => {
  for (const path of ['/v1/audio/voices', '/v1/audio/models'])
    t.equal((await fetch(`${parley.url}${path}`)).status, 200, path)
})
