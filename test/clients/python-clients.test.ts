/** The official Python client against a running server. */
import t from 'tap'
import { expectClient } from './expect.ts'
import { pythonEnvironment } from './python/environment.ts'
import { startSetup } from './setup.ts'

t.setTimeout(400_000)
const { python, missing } = await pythonEnvironment('openai.txt')

if (missing)
  t.test('the tests with Python clients are skipped if the clients cannot be installed', { skip: missing }, () => {})
else {
  const setup = await startSetup(t)
  t.test('the Python SDK openai works with this server', async (t) =>
    expectClient(t, await setup.run(python, ['python/with-openai.py']), [
      ...['chat', 'chatStream', 'usage', 'tools', 'transcribe', 'transcribeText', 'transcribeVerbose'],
      ...['speakPcm', 'speakWav', 'speakMp3', 'transcribeSrt', 'transcribeVtt', 'realtime', 'retrieve'],
      ...['withoutCredential', 'models', 'cutStream', 'resetStream', 'wrongKey'],
    ]),
  )
}
