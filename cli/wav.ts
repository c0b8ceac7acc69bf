/** WAV files with 16-bit PCM (Multimedia Programming Interface and Data Specifications 1.0, 1991). */
import { CommandError } from './command-error.ts'

export const wavHeaderBytes = 44
const pcm = 1

export type Recording = { sampleRateHz: number; channels: number; samples: Buffer }

/** Puts a RIFF header in front of mono samples. */
export function wavOf(samples: Buffer, sampleRateHz: number): Buffer {
  const head = Buffer.alloc(wavHeaderBytes)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(36 + samples.length, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(pcm, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(sampleRateHz, 24)
  head.writeUInt32LE(sampleRateHz * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36, 'latin1')
  head.writeUInt32LE(samples.length, 40)
  return Buffer.concat([head, samples])
}

/** Reads a WAV file. Throws CommandError if the bytes are not a WAV file with 16-bit PCM. */
export function readWav(bytes: Buffer): Recording {
  const isRiff = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WAVE'
  let format: Omit<Recording, 'samples'> | null = null
  for (let at = 12; isRiff && at + 8 <= bytes.length; ) {
    const [name, size] = [bytes.toString('latin1', at, at + 4), bytes.readUInt32LE(at + 4)]
    const chunk = bytes.subarray(at + 8, at + 8 + size)
    if (name === 'fmt ' && chunk.length >= 16) format = formatOf(chunk)
    if (name === 'data' && format !== null) return { ...format, samples: chunk }
    at += 8 + size + (size % 2)
  }
  throw new CommandError('the recording is no WAV file with PCM of 16 bits')
}

function formatOf(chunk: Buffer): Omit<Recording, 'samples'> | null {
  const [tag, channels, sampleRateHz, bits] = [0, 2, 4, 14].map((at) => chunk.readUInt16LE(at))
  const isSupported = tag === pcm && bits === 16 && channels !== undefined && channels > 0
  return isSupported ? { channels, sampleRateHz: sampleRateHz ?? 0 } : null
}

/** Returns the left channel between two times, as a WAV file. Outside the recording there are no samples. */
export function leftOf({ sampleRateHz, channels, samples }: Recording, fromMs: number, toMs: number): Buffer {
  const frameBytes = channels * 2
  const frames = Math.floor(samples.length / frameBytes)
  const frameAt = (ms: number) => Math.min(frames, Math.max(0, Math.round((ms * sampleRateHz) / 1000)))
  const [from, to] = [frameAt(fromMs), frameAt(toMs)]
  const left = Buffer.alloc(Math.max(0, to - from) * 2)
  for (let i = 0; i < left.length / 2; i++) left.writeInt16LE(samples.readInt16LE((from + i) * frameBytes), i * 2)
  return wavOf(left, sampleRateHz)
}
