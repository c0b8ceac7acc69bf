/**
 * Measures each embedded recognizer with recorded speech: processor time and wall time, memory, and the time until a
 * live stream's final transcript.
 */
import type { Provider } from '../domain/ports/provider.ts'
import type { Recognizer } from '../providers/local/recognition/recognizer.ts'
import { recognizers } from '../providers/local/recognizers.ts'
import { openLocal } from '../test/local/setup.ts'
import { feed, listen, silence } from '../test/local/streaming.ts'
import type { Running } from '../test/process/parley.ts'
import { transcribe } from '../test/router/requests.ts'
import { readFixture } from '../test/speech/fixtures.ts'
import { EngineChild, modelsDir, startEngineServer } from './engine-server.ts'
import { median, type Result } from './figure.ts'

const rateHz = 8000
const format = { encoding: 'pcm_s16le', sample_rate_hz: rateHz, channels: 1 }
const headerBytes = 44
const clipS = 5
const runs = 7

export async function recognizerFigures(dataDir: string): Promise<Result[]> {
  const teardowns: (() => Promise<void>)[] = []
  const { provider } = openLocal({ teardown: (run) => teardowns.push(run) }, { modelsDir })
  const offered = provider.models.map(({ id }) => id)
  const parley = await startEngineServer(dataDir)
  try {
    const all: Result[] = []
    for (const recognizer of recognizers) {
      const { model } = recognizer
      if (offered.includes(model)) all.push(...(await measure(parley, provider, recognizer)))
      else all.push({ name: `recognizer ${model}`, skipped: `its files are not here: parley models add ${model}` })
    }
    return all
  } finally {
    await parley.stop()
    for (const run of teardowns) await run()
  }
}

/** Returns recorded speech at 8 kHz, 5 s long. */
function clip(): Uint8Array {
  const prompts = [readFixture('privacy-prompt'), readFixture('tt-weasels')].map((wav) => wav.subarray(headerBytes))
  return Buffer.concat(prompts).subarray(0, clipS * rateHz * 2)
}

async function measure(parley: Running, provider: Provider, { model, entries }: Recognizer): Promise<Result[]> {
  const routing = { mode: 'explicit', model: `local/${model}` }
  const recognize = async () => {
    const answer = await transcribe(parley, clip(), { language: 'en', audio: format, routing })
    if (answer.status !== 200) throw new Error(answer.text)
  }
  await recognize()
  const child = await EngineChild.of(parley, entries.recordings)
  const { cpuS, wallS } = await child.timeOf(async () => {
    for (let run = 0; run < runs; run++) await recognize()
  })
  const finalMs: number[] = []
  for (let run = 0; run <= runs; run++) finalMs.push(await finalAfter(provider, model))
  // The first stream starts the process for live streams.
  finalMs.shift()
  return [
    {
      name: `recognizer ${model}: processor time of 1 s of speech`,
      value: (cpuS * 1000) / runs / clipS,
      unit: 'ms',
      bar: null,
      detail: `a recording of ${clipS} s, ${runs} runs; real-time factor ${(wallS / runs / clipS).toFixed(3)}`,
    },
    {
      name: `recognizer ${model}: final transcript after ${clipS} s of live speech, median`,
      value: median(finalMs),
      unit: 'ms',
      bar: 300,
      detail: `${runs} runs, longest ${Math.max(...finalMs).toFixed(0)} ms, warm`,
    },
    {
      name: `recognizer ${model}: memory of the process`,
      value: child.residentMiB,
      unit: 'MiB',
      bar: null,
      detail: 'for recordings, after the runs above',
    },
  ]
}

/** Returns the time from the audio's end to the last transcript. */
async function finalAfter(provider: Provider, model: string): Promise<number> {
  const { stream, transcripts, over } = await listen(provider, {
    model,
    endpointingMs: 3000,
    interimResults: false,
    language: 'en',
  })
  await feed(stream, clip())
  await feed(stream, silence(100))
  const startedMs = performance.now()
  stream.end()
  if ((await over) !== 'ended') throw new Error(`the stream of ${model} failed`)
  return (transcripts.at(-1)?.atMs ?? Number.NaN) - startedMs
}
