/** The server has no model files for Whisper, so requests for Whisper are refused. */
import t from 'tap'
import { serverWith } from '../server.ts'
import { readFixture } from '../speech/fixtures.ts'
import { send, transcribe } from './requests.ts'

const parley = await serverWith()
const recording = readFixture('privacy-prompt')
type Answer = { error: { code: string; message: string; param?: string } }

t.test('a request for a model that is not installed is answered with the command that installs it', async (t) => {
  const pinned = await transcribe(parley, recording, {
    routing: { mode: 'explicit', provider: 'local', model: 'whisper-base' },
  })
  t.match(pinned.json<Answer>().error, {
    code: 'invalid_parameter',
    message: /not installed on this server.*`parley models add whisper-base`/,
  })
  const german = await transcribe(parley, recording, { language: 'de' })
  t.match(german.json<Answer>().error, {
    code: 'capability_unsupported',
    message: /The language de is not supported.*`parley models add whisper-base`/,
  })
  const klingon = await transcribe(parley, recording, { language: 'tlh' })
  t.notMatch(klingon.json<Answer>().error.message, /models add/)
})

t.test('a model that is not installed is not listed', async (t) => {
  const { models } = (await send(parley, '/router/v1/models')).json<{ models: { pin: string }[] }>()
  t.notOk(models.some(({ pin }) => pin === 'local/whisper-base'))
})
