/**
 * The official clients for Node against a running server. They have a separate lock file, so the product does not
 * install them.
 */
import t from 'tap'
import { expectClient } from './expect.ts'
import { installNodeClients, startSetup } from './setup.ts'

t.setTimeout(400_000)
const missing = await installNodeClients('.')

const chat = ['chat', 'chatStream', 'usage', 'tools']
const broken = ['cutStream', 'resetStream']
const clients = {
  openai: [
    ...[...chat, 'toolStream', 'transcribe', 'transcribeText', 'transcribeVerbose', 'transcribeSrt', 'transcribeVtt'],
    ...['speakPcm', 'speakWav', 'speakMp3', 'models', 'retrieve', 'realtime', 'withoutCredential', ...broken],
    'wrongKey',
  ],
  'ai-sdk': [...chat, 'transcribe', 'speakWav', 'speakMp3', ...broken],
  langchain: [...chat, ...broken],
}

if (missing)
  t.test('the tests with Node clients are skipped if the clients cannot be installed', { skip: missing }, () => {})
else {
  const setup = await startSetup(t)
  for (const [client, steps] of Object.entries(clients))
    t.test(client, async (t) => expectClient(t, await setup.run(process.execPath, [`${client}.mjs`]), steps))
}
