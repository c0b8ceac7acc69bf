/**
 * Most figures are ratios to the lowest possible cost ("floor": the same work without Parley) in the same run, because
 * machines differ and drift. Rounds are interleaved for the same reason. Prints one line for each figure with its bar,
 * and exits 1 if a bar is missed.
 */
import '../test/no-time-limit.ts'
import { rmSync } from 'node:fs'
import { freshDataDir } from '../test/installation.ts'
import { startParley } from '../test/process/parley.ts'
import { decisionTime } from './decision.ts'
import type { Result } from './figure.ts'
import { firstChunkDelay } from './first-chunk.ts'
import { accessLineCpu, chatCpu, chunkCpu, routerCpu } from './hop-cpu.ts'
import { memoryFigures } from './memory.ts'
import { modelFigures } from './model-figures.ts'
import { phoneFigures } from './phone-calls.ts'
import { recognizerFigures } from './recognizers.ts'
import { longSessionFigures, sessionFigures } from './sessions.ts'
import { socketFigures } from './sockets.ts'
import { idleMemory, readyTime, warmEngine } from './start.ts'
import { trunkFigures } from './trunk-calls.ts'
import { voiceFigures } from './voices.ts'
import { deliveryFigures } from './webhooks.ts'

type Measure = (dataDir: string) => Promise<Result | Result[]>

const dataDir = freshDataDir()
// The first start makes the store. The measured starts come after it.
await (await startParley({}, dataDir)).stop()
const [group = 'usual', requests = '100000'] = process.argv.slice(2)
if (!/^[1-9]\d*$/.test(requests)) throw new Error(`not a number of requests: ${requests}`)
const counts = { ok: 0, missed: 0, skipped: 0 }
const measures: Record<string, readonly Measure[]> = {
  usual: [
    decisionTime,
    readyTime,
    idleMemory,
    warmEngine,
    voiceFigures,
    recognizerFigures,
    routerCpu,
    chatCpu,
    accessLineCpu,
    chunkCpu,
    firstChunkDelay,
    socketFigures,
    sessionFigures,
    phoneFigures,
    trunkFigures,
    deliveryFigures,
  ],
  webhooks: [deliveryFigures],
  engines: [voiceFigures, recognizerFigures],
  log: [accessLineCpu],
  sessions: [sessionFigures],
  phone: [phoneFigures],
  trunk: [trunkFigures],
  // This group takes four minutes, and writes docs/costs.md.
  model: [modelFigures],
  // This group takes ten minutes.
  'long-sessions': [longSessionFigures],
  // This group takes half an hour. The second argument is the number of requests to each API.
  memory: memoryFigures(Number(requests)),
}
const chosen = measures[group]
if (chosen === undefined)
  throw new Error(`no such measurements: ${group}; there are ${Object.keys(measures).join(', ')}`)
for (const measure of chosen) for (const result of [await measure(dataDir)].flat()) report(result)
rmSync(dataDir, { recursive: true, force: true })
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
console.log(`${counts.ok} passed, ${counts.missed} failed${skipped}`)
process.exit(counts.missed ? 1 : 0)

function report(result: Result): void {
  if ('skipped' in result) {
    counts.skipped++
    return console.log(`skip   ${result.name}: ${result.skipped}`)
  }
  const { name, value, unit, bar, detail } = result
  const verdict = bar === null ? 'figure' : value <= bar ? 'ok    ' : 'MISSED'
  if (bar !== null) counts[value <= bar ? 'ok' : 'missed']++
  console.log(`${verdict} ${name}: ${value.toFixed(2)} ${unit} (${bar === null ? 'no bar' : `bar ${bar}`}); ${detail}`)
}
