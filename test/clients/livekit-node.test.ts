/** LiveKit Agents for Node against a running server. */
import t from 'tap'
import { expectClient } from './expect.ts'
import { installNodeClients, startSetup } from './setup.ts'

t.setTimeout(400_000)
const missing = await installNodeClients('livekit')

if (missing)
  t.test(
    'the tests with LiveKit Agents for Node are skipped if its packages cannot be installed',
    { skip: missing },
    () => {},
  )
else {
  const setup = await startSetup(t, ['agent'])
  await setup.loadStreamModels()
  t.test('LiveKit Agents for Node chat, call tools, transcribe and speak through this server', async (t) =>
    expectClient(t, await setup.run(process.execPath, ['livekit/livekit.mjs']), [
      ...['chatStream', 'toolCall', 'transcribe', 'captions', 'speakSeconds', 'withoutCredential'],
    ]),
  )
}
