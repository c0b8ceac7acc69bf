/** The log has readable lines at a terminal, and JSON lines elsewhere. */
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import t from 'tap'
import { createLog } from '../../runtime/telemetry/log.ts'

function terminal() {
  const written: string[] = []
  return { written, isTTY: true, write: (text: string) => written.push(text) }
}

t.test('a log on a terminal has readable lines', (t) => {
  const screen = terminal()
  const log = createLog('info', screen)
  log.info({ requestId: 'req_1', operation: 'createSpeech', status: 200, durationMs: 12.5, isGone: false }, 'request')
  log.warn({ apiKey: 'sk_live_secret', reason: 'two words' }, 'careful')
  log.debug({}, 'not shown')
  t.match(screen.written, [
    /^\d\d:\d\d:\d\d info {2}request {2}requestId=req_1 {2}operation=createSpeech {2}status=200 {2}durationMs=12.5 {2}isGone=false\n$/,
    /^\d\d:\d\d:\d\d warn {2}careful {2}apiKey="\[redacted\]" {2}reason="two words"\n$/,
  ])
  t.equal(screen.written.length, 2)
  t.end()
})

t.test('an error is shown with its stack and its causes', (t) => {
  const screen = terminal()
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
  createLog('info', screen).error({ err: new TypeError('it failed', { cause }) }, 'a loop failed')
  const [text = ''] = screen.written
  t.match(text, /^\d\d:\d\d:\d\d error a loop failed\n {9}TypeError: it failed\n {9} +at /)
  t.match(text, /\n {9}Error: refused\n {9}code ECONNREFUSED\n$/)
  t.end()
})

t.test('a log line cannot send control codes to the terminal', (t) => {
  const screen = terminal()
  const log = createLog('info', screen)
  log.info({ name: '\u001b[2J\nforged line' }, 'named')
  log.error({ err: new Error('\u001b]0;title\u0007') }, 'failed')
  t.notMatch(screen.written.join(''), /\u001b|\u0007/)
  t.equal(screen.written[0]?.split('\n').length, 2, 'one line')
  t.end()
})

t.test('a log into a pipe has JSON lines', (t) => {
  const script = `import { createLog } from './runtime/telemetry/log.ts'; createLog('info').info({ status: 200 }, 'request')`
  const cwd = path.resolve(import.meta.dirname, '../..')
  const { stderr } = spawnSync(process.execPath, ['--import=tsx', '--input-type=module', '-e', script], { cwd })
  t.match(JSON.parse(stderr.toString()), { level: 30, status: 200, msg: 'request' })
  t.end()
})
