/** Reads the file written by `parley bundle`. */
import { readFileSync, statSync } from 'node:fs'
import type { Call, CallEventList, CallTranscript, PipelineConfig } from '../generated/platform/types.ts'
import { CommandError } from './command-error.ts'
import { readTar } from './tar.ts'
import { type Recording, readWav } from './wav.ts'

/** The bundle's maximum size in bytes. The recording of a long call has 230 MB an hour. */
const bundleBytesMax = 1024 ** 3

export type Bundle = {
  call: Pick<Call, 'id' | 'language' | 'started_at'>
  config: PipelineConfig
  turns: CallTranscript['entries']
  /** Null if the call was not recorded. */
  recording: Recording | null
  /** The time of the recording's first sample. */
  recordingStartMs: number
}

export function readBundle(file: string): Bundle {
  const files = readTar(readWhole(file))
  const json = <Value>(name: string) => parsed<Value>(file, name, files.get(name))
  const { version } = json<{ version: number }>('bundle.json')
  if (version !== 1) throw new CommandError(`${file} has version ${version}; this Parley reads version 1`)
  const call = json<Bundle['call']>('call.json')
  const { events } = json<CallEventList>('events.json')
  const began = events.find(({ event_type: type }) => type === 'recording.recording')
  const wav = files.get('recording.wav')
  return {
    call,
    config: json<PipelineConfig>('config.json'),
    turns: json<CallTranscript>('transcript.json').entries,
    recording: wav === undefined ? null : readWav(wav),
    recordingStartMs: Date.parse(began?.occurred_at ?? call.started_at ?? ''),
  }
}

function readWhole(file: string): Buffer {
  try {
    if (statSync(file).size > bundleBytesMax) throw new CommandError(`${file} has more than ${bundleBytesMax} bytes`)
    return readFileSync(file)
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

function parsed<Value>(file: string, name: string, bytes: Buffer | undefined): Value {
  try {
    const value: unknown = JSON.parse(bytes?.toString('utf8') ?? '')
    if (typeof value === 'object' && value !== null) return value as Value
  } catch {
    // A missing file falls through to the error below. It is also the error for invalid JSON.
  }
  throw new CommandError(`${file} is no bundle of a call: it has no sound ${name}`)
}
