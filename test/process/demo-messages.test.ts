/**
 * Checks that `make demo-messages` does what it prints, in seconds: the test moves the simulated carrier's clock, so it
 * does not wait for reviews.
 */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { shellEnvironment } from './shell.ts'

t.setTimeout(120_000)

t.test('the demo of text messages and rich messages runs to its end', async (t) => {
  const program = path.join(import.meta.dirname, '../sms/demo.ts')
  const { stdout } = await promisify(execFile)(process.execPath, ['--import=tsx', program], { env: shellEnvironment() })
  const lines = stdout.split('\n').filter((line) => line !== '')
  const inOrder = [
    /^1\. The brand is submitted: pending$/,
    /clock of the simulated carrier is moved 5 s\.$/,
    /^ {3}After its review: verified$/,
    /^2\. The campaign is submitted: pending$/,
    /moved 60 s\.$/,
    /^ {3}After its review: active$/,
    /^3\. \+12125550142 is bought, and takes rich messages\. Falls back to SMS: false$/,
    /assigned to the campaign: PENDING_ASSIGNMENT$/,
    /moved 2 s\.$/,
    /After that: ASSIGNED, smsReady true\. Falls back to SMS: true$/,
    /^4\. A message to a phone without rich messages: [0-9a-f-]{36}, queued$/,
    /subscription with the tag team: shop got$/,
    /^ {5}rmsg\.sent {16}rmsg {2}accepted$/,
    /^ {5}rmsg\.delivered {11}sms {3}delivered$/,
    /The subscription without tags got$/,
  ]
  for (const [at, line] of inOrder.entries()) t.match(lines[at + 1], line)
  const [events, log] = [lines.slice(16, 22), lines.slice(23)]
  t.same(events.map(withoutSpaces).sort(), [
    'rmsg.delivered rmsg delivered',
    'rmsg.delivered sms delivered',
    'rmsg.reaction_received rmsg delivered',
    'rmsg.received rmsg received',
    'rmsg.sent rmsg accepted',
    'rmsg.sent rmsg sent',
  ])
  t.equal(lines[22], '5. The log of deliveries')
  const row = /^ {3}(rmsg\.\w+) +succeeded +1 attempt {2}(http:\/\/127\.0\.0\.1:\d+\/hook) {2}(evt_\w+)$/
  const rows = log.map((line) => row.exec(line)?.slice(1) ?? [line])
  t.same(rows.map(([type]) => type).sort(), [
    ...['rmsg.delivered', 'rmsg.delivered', 'rmsg.delivered', 'rmsg.reaction_received', 'rmsg.received'],
    ...['rmsg.sent', 'rmsg.sent', 'rmsg.sent'],
  ])
  t.equal(new Set(rows.map(([, url]) => url)).size, 2, 'two subscriptions')
  t.equal(new Set(rows.map(([, , id]) => id)).size, 6, 'two events went to both')
})

const withoutSpaces = (line: string) => line.trim().replace(/ +/g, ' ')
