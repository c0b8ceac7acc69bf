/** Checks that `make demo-call` prints the call's events in order, and records a voice on each side. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import { ChunkedBytes } from '../../audio/chunked-bytes.ts'
import { readWav } from '../../audio/wav.ts'
import { testKey } from '../installation.ts'
import { startParley } from '../process/parley.ts'
import { shellEnvironment } from '../process/shell.ts'
import { voicesIn, wordsOf } from '../session/recorded-call.ts'
import { errorRate, wordErrors } from '../speech/words.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-demo-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

const timeline = [
  ...['call.ringing', 'call.in_progress', 'call.transferring', 'transfer.requested'],
  ...['transfer.screening', 'transfer.bridging', 'transfer.completed', 'call.completed'],
]

/** Runs the demo in a folder, to which it writes its recording. Returns the printed lines. */
async function demo(t: Test): Promise<string[]> {
  const program = path.join(import.meta.dirname, 'demo.ts')
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), program], {
    cwd: folder,
    env: shellEnvironment(),
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  t.equal(code, 0, printed)
  t.comment(printed)
  return printed.split('\n')
}

const said = (lines: readonly string[], who: string) =>
  lines.flatMap((line) => (line.startsWith(`              ${who}: `) ? [line.slice(16 + who.length)] : []))

t.test('the demo of a phone call runs to its end without an error', async (t) => {
  const lines = await demo(t)
  t.match(lines[0], /^Parley runs at http\S+\. \+15005550006 calls \+15005550100, /)
  const events = lines.flatMap((line) => /^\d\d:\d\d:\d\d\.\d{3} {2}(\S+)/.exec(line)?.[1] ?? [])
  t.same(
    events.filter((type) => timeline.includes(type)),
    // After the transfer the call goes on with the recipient.
    timeline.toSpliced(-1, 0, 'call.in_progress'),
  )
  t.ok(events.includes('carrier.initiated'), 'a call comes in')
  t.ok(
    lines.some((line) => line.endsWith('  agent.tool_started  (transfer_call)')),
    'the agent transfers it',
  )
  t.ok(events.includes('carrier.bridged'), 'the carrier connects the two')
  t.match(lines.at(-2), /^The call has ended: completed, transferred\. Its recording, \d+ bytes of stereo WAV: \S+$/)
  const texts = { caller: said(lines, 'user'), agent: said(lines, 'agent') }
  t.notOk([...texts.caller, ...texts.agent].includes(''), 'no line is empty')

  const recording = new Uint8Array(await readFile(path.join(folder, 'demo-call.wav')))
  t.equal(readWav(new ChunkedBytes([recording])).format.channels, 2)
  const parley = await startParley()
  t.teardown(() => parley.remove())
  for (const [name, voice] of Object.entries(voicesIn(recording)) as [keyof typeof texts, Int16Array][]) {
    const words = await wordsOf({ url: parley.url, key: testKey }, voice)
    const rate = errorRate([wordErrors(texts[name].join(' '), words)])
    t.ok(rate < 0.5, `${name}: word error rate ${rate.toFixed(2)} of "${words}"`)
  }
})
