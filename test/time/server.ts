/** The product in this process and in injected time, with engines that say and recognise words in tones. */
import { TestClock } from '../clock.ts'
import { openWordEngines } from '../phone/engines.ts'
import { ownServer, type Settings, type TestServer } from '../server.ts'
import { wholeProcess } from './quiet.ts'

export type ServerInTime = TestServer & { clock: TestClock }

/** `clock`: a part of the test outside of the server has the same time. */
export async function serverInTime(
  t: { teardown(run: () => Promise<void>): void },
  settings: Settings = {},
  clock = new TestClock({ startMs: Date.now(), quiet: wholeProcess }),
): Promise<ServerInTime> {
  // Its end needs time to pass, which the teardown below lets.
  const server = await ownServer({ teardown() {} }, settings, { clock, engines: openWordEngines })
  t.teardown(() => clock.during(server.stop()))
  return { ...server, clock }
}
