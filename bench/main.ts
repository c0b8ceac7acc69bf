/**
 * Every figure is a ratio beside a floor of the same run, because machines differ and drift; rounds are interleaved for the same reason.
 * Prints one line a figure with its bar, and exits 1 when a bar is missed.
 */
import { rmSync } from 'node:fs'
import { freshDataDir, startParley } from '../test/process/parley.ts'
import { firstChunkDelay } from './first-chunk.ts'
import { hopCpu } from './hop-cpu.ts'
import { idleMemory, readyTime } from './start.ts'

export type Figure = { name: string; value: number; unit: string; bar: number; detail: string }

const dataDir = freshDataDir()
// The first start makes the store; what is measured is every start after it.
await (await startParley({}, dataDir)).stop()
const figures: Figure[] = []
for (const measure of [readyTime, idleMemory, hopCpu, firstChunkDelay]) {
  const figure = await measure(dataDir)
  figures.push(figure)
  const verdict = figure.value <= figure.bar ? 'ok    ' : 'MISSED'
  console.log(
    `${verdict} ${figure.name}: ${figure.value.toFixed(2)} ${figure.unit} (bar ${figure.bar}); ${figure.detail}`,
  )
}
rmSync(dataDir, { recursive: true, force: true })
const missed = figures.filter((figure) => figure.value > figure.bar).length
console.log(`${figures.length - missed} passed, ${missed} failed`)
process.exit(missed ? 1 : 0)
