/** The product in this process on a test clock, with engines that speak and recognize words as tones. */
import { TestClock } from '../clock.ts'
import { openWordEngines } from '../phone/engines.ts'
import { ownServer, type Settings, type TestServer } from '../server.ts'
import { wholeProcess } from './quiet.ts'

export type ServerInTime = TestServer & { clock: TestClock }

/** `clock`: shared with a part of the test outside the server. */
export async function serverInTime(
  t: { teardown(run: () => Promise<void>): void },
  settings: Settings = {},
  clock = new TestClock({ startMs: Date.now(), quiet: wholeProcess }),
): Promise<ServerInTime> {
  // The server needs time to pass for its end, and the teardown below lets it pass.
  const server = await ownServer({ teardown() {} }, settings, { clock, engines: openWordEngines })
  t.teardown(() => clock.during(server.stop()))
  return { ...server, clock }
}
