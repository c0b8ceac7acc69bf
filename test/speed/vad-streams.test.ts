/** Voice activity detection handles 100 streams in real time. The figures are printed. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { vadFrameSamples } from '../../domain/ports/vad.ts'
import { eventually } from '../local/setup.ts'
import { open, probabilities } from '../local/vad-streams.ts'
import { speechAt } from '../speech/samples.ts'

const frameMs = 32
const medianMsMax = 60

t.test('100 streams of voice activity detection run in real time', { timeout: 60_000 }, async (t) => {
  const { vad, pids } = open(t)
  const samples = await speechAt('privacy-prompt', 16_000)
  await probabilities(vad, samples)
  const latencies: number[] = []
  let answered = 0
  const streams = Array.from({ length: 100 }, () => {
    const dueMs: number[] = []
    const stream = vad.open(() => {
      answered++
      latencies.push(performance.now() - dueMs.shift()!)
    })
    return { stream, dueMs, pushed: 0 }
  })
  const before = cpuMs(pids[0]!)
  const ownBefore = process.cpuUsage()
  const startedMs = performance.now()
  const durationMs = 3000
  for (let tick = 0; tick * 20 < durationMs; tick++) {
    for (const each of streams) {
      const at = (tick * 320) % 48_000
      const whole = Math.floor(each.pushed / vadFrameSamples)
      each.pushed += 320
      if (Math.floor(each.pushed / vadFrameSamples) > whole) each.dueMs.push(performance.now())
      each.stream.push(samples.subarray(at, at + 320))
    }
    const waitMs = startedMs + (tick + 1) * 20 - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
  const expected = 100 * Math.floor(durationMs / frameMs)
  t.ok(await eventually(() => answered === expected))
  const elapsedMs = performance.now() - startedMs
  const own = process.cpuUsage(ownBefore)
  const share = (cpu: number) => `${((100 * cpu) / elapsedMs).toFixed(1)} %`
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor(part * sorted.length)]!.toFixed(1)
  t.comment(
    `child ${share(cpuMs(pids[0]!) - before)} of a core, parent ${share((own.user + own.system) / 1000)}; ` +
      `probability after ${at(0.5)} ms (median), ${at(0.99)} ms (p99)`,
  )
  t.ok(sorted[Math.floor(sorted.length / 2)]! < medianMsMax)
})

/** User and system time, from fields 14 and 15 of proc_pid_stat(5); a tick is 10 ms. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
