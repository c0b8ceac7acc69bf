/**
 * Measures voice sessions with stub engines for speech and LLM, and real voice activity detection: the time from the
 * user's last speech to the agent's voice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startParley } from '../test/process/parley.ts'
import { speechAt } from '../test/speech/samples.ts'
import { type Figure, median } from './figure.ts'
import { cpuMs, residentMiB } from './process-figures.ts'
import { BenchCaller, frameMs, type TurnFigures } from './session-caller.ts'
import { percentile, stubEngines, stubsAlone } from './stub-engines.ts'

const rateHz = 16_000
const frameSamples = (rateHz / 1000) * frameMs
/** A sample louder than this is speech. The samples after the last such sample are silence. */
const loud = 300
const crowd = 100
const aloneMs = 40_000
const crowdMs = 60_000

export async function sessionFigures(): Promise<Figure[]> {
  return withStubEngines(async (parley, speech) => {
    const alone = await converse(parley, speech, 1, aloneMs)
    const startMiB = residentMiB(parley.pid)
    const many = await converse(parley, speech, crowd, crowdMs)
    return [
      latencyFigure('one session: speech end to the agent heard, median', alone, 0.5, 400),
      latencyFigure('one session: speech end to the agent heard, p95', alone, 0.95, 600),
      latencyFigure(`${crowd} sessions: speech end to the agent heard, median`, many, 0.5, null),
      latencyFigure(`${crowd} sessions: speech end to the agent heard, p95`, many, 0.95, null),
      latenessFigure(many),
      {
        name: `${crowd} sessions: memory of one`,
        value: ((many.residentMiB.at(-1)! - startMiB) * 1024) / crowd,
        unit: 'KiB',
        bar: null,
        detail: `${many.residentMiB.at(-1)!.toFixed(0)} MiB in all; ${((many.cpuMs / crowdMs) * 100).toFixed(0)} % of a core in the server`,
      },
    ]
  })
}

/** The heaps settle in the first minutes. Growth after them is a leak. */
const settledMinutes = 3
const longMinutes = 10

export async function longSessionFigures(): Promise<Figure[]> {
  return withStubEngines(async (parley, speech) => {
    const many = await converse(parley, speech, crowd, longMinutes * 60_000, longMinutes)
    const each = many.residentMiB
    const settled = each[settledMinutes - 1]!
    return [
      {
        name: `${crowd} sessions: growth of memory from minute ${settledMinutes} to ${longMinutes}`,
        value: (each.at(-1)! / settled - 1) * 100,
        unit: '%',
        bar: 5,
        detail: `MiB at each minute: ${each.map((mib) => mib.toFixed(0)).join(' ')}`,
      },
      latenessFigure(many),
    ]
  })
}

type Server = { url: string; key: string; pid: number }

async function withStubEngines(
  measure: (parley: Server, speech: readonly Buffer[]) => Promise<Figure[]>,
): Promise<Figure[]> {
  const engines = await stubEngines()
  const parley = await startParley(engines.env)
  try {
    return await measure(parley, await speechFrames())
  } finally {
    await parley.remove()
    engines.close()
  }
}

/** A run's results: all turns, the server's memory after equal parts of the run, and its CPU time. */
type Conversed = { turns: TurnFigures[]; residentMiB: number[]; cpuMs: number }

async function converse(
  parley: Server,
  speech: readonly Buffer[],
  sessions: number,
  durationMs: number,
  parts = 1,
): Promise<Conversed> {
  const callers: BenchCaller[] = []
  const beforeMs = cpuMs(parley.pid)
  // The timer fires late now and then, so each tick makes up for all frames that are due by the clock.
  let dueMs = performance.now()
  const timer = setInterval(() => {
    for (; dueMs <= performance.now(); dueMs += frameMs) for (const caller of callers) caller.tick(performance.now())
  }, 5)
  for (let count = 0; count < sessions; count++) {
    callers.push(await BenchCaller.join(parley, speech, 1000, stubsAlone))
    await sleep(37)
  }
  const resident: number[] = []
  for (let part = 0; part < parts; part++) {
    await sleep(durationMs / parts)
    resident.push(residentMiB(parley.pid))
  }
  const figures = { residentMiB: resident, cpuMs: cpuMs(parley.pid) - beforeMs }
  const over = callers.filter(({ ended }) => ended !== null).map(({ ended }) => ended)
  for (const caller of callers) caller.leave()
  await sleep(500)
  clearInterval(timer)
  if (over.length > 0) throw new Error(`${over.length} of ${sessions} sessions have ended: ${over[0]}`)
  return { turns: callers.flatMap(({ turns }) => turns), ...figures }
}

function latencyFigure(name: string, { turns }: Conversed, part: number, bar: number | null): Figure {
  const all = turns.map(({ latencyMs }) => latencyMs)
  const detail = `${all.length} turns, median ${median(all).toFixed(0)} ms, longest ${Math.max(...all).toFixed(0)} ms`
  return { name, value: percentile(all, part), unit: 'ms', bar, detail }
}

function latenessFigure({ turns }: Conversed): Figure {
  const all = turns.flatMap(({ lateMs }) => lateMs)
  const detail = `${all.length} frames, median ${median(all).toFixed(1)} ms`
  return {
    name: `${crowd} sessions: lateness of a frame, p99`,
    value: percentile(all, 0.99),
    unit: 'ms',
    bar: 60,
    detail,
  }
}

/** Returns recorded speech, up to its last loud sample. */
async function speechFrames(): Promise<Buffer[]> {
  const samples = await speechAt('please-try-call-later', rateHz)
  const end = samples.findLastIndex((sample) => Math.abs(sample) > loud)
  const frames: Buffer[] = []
  for (let at = 0; at + frameSamples <= end; at += frameSamples)
    frames.push(Buffer.from(samples.slice(at, at + frameSamples).buffer))
  return frames
}
