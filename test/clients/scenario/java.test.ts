/** The client for Java runs the scenario, in a separate lane because a machine seldom has Java and Maven. */
import t from 'tap'
import { javaProgram, prepareJava } from './java/prepare.ts'
import { runLanguage } from './run-language.ts'
import { startScenario } from './setup.ts'

/** The program is older than these steps. Until it has them, each is a skip. */
const lacks = [
  ...['resumed_webhooks', 'resumed_session', 'lost_stream', 'unreadable_event', 'long_event', 'socket_closes'],
  ...['socket_frames', 'socket_openings', 'socket_prefix', 'socket_late_send', 'socket_slow', 'rule_retries'],
  ...['rule_redirects', 'rule_headers', 'rule_errors', 'rule_timeouts', 'rule_webhooks'],
]

t.setTimeout(1_800_000)
const skip = (await prepareJava()) ?? false
const scenario = await startScenario(t)

t.test("the client in Java gives the scenario's values", { skip }, (t) =>
  runLanguage(t, scenario, { name: 'Java', prepare: prepareJava, run: ['java', ...javaProgram] }, lacks),
)
