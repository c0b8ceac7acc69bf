/**
 * Cuts a span from one channel in a recording, and reads only this span. A recording is a WAV file with 16-bit PCM and
 * two channels. Its header has 44 bytes (Multimedia Programming Interface and Data Specifications 1.0, 1991).
 */
export type Span = { fromMs: number; toMs: number }

/** Reads a file's bytes from `from` to `to`, exclusive. */
type Read = (from: number, to: number) => Promise<DataView>

const wavHeaderBytes = 44
const sampleBytes = 2

/** Rejects if the file has another format, or no sample in the span. */
export async function cutChannel(read: Read, channel: 0 | 1, { fromMs, toMs }: Span): Promise<Blob> {
  const head = await read(0, wavHeaderBytes)
  const [channels, rateHz, bits] = [head.getUint16(22, true), head.getUint32(24, true), head.getUint16(34, true)]
  const isKnown = textAt(head, 0) === 'RIFF' && textAt(head, 36) === 'data' && bits === 8 * sampleBytes
  if (!isKnown || channels <= channel) throw new Error('The recording has an unknown format.')
  const frameBytes = channels * sampleBytes
  const frames = Math.floor(head.getUint32(40, true) / frameBytes)
  const frameAt = (ms: number) => Math.min(frames, Math.max(0, Math.round((ms * rateHz) / 1000)))
  const [from, to] = [frameAt(fromMs), frameAt(toMs)]
  if (from >= to) throw new Error('The recording has no audio of this turn.')
  const part = await read(wavHeaderBytes + from * frameBytes, wavHeaderBytes + to * frameBytes)
  const samples = new DataView(new ArrayBuffer(Math.floor(part.byteLength / frameBytes) * sampleBytes))
  for (let at = 0; at < samples.byteLength; at += sampleBytes)
    samples.setInt16(at, part.getInt16(at * channels + channel * sampleBytes, true), true)
  return wavOf(samples.buffer, rateHz)
}

/** Puts a header in front of mono samples. */
export function wavOf(samples: ArrayBuffer, rateHz: number): Blob {
  const bytes = samples.byteLength - (samples.byteLength % sampleBytes)
  const head = new DataView(new ArrayBuffer(wavHeaderBytes))
  writeText(head, 0, 'RIFF')
  head.setUint32(4, wavHeaderBytes - 8 + bytes, true)
  writeText(head, 8, 'WAVEfmt ')
  head.setUint32(16, 16, true)
  head.setUint16(20, 1, true)
  head.setUint16(22, 1, true)
  head.setUint32(24, rateHz, true)
  head.setUint32(28, rateHz * sampleBytes, true)
  head.setUint16(32, sampleBytes, true)
  head.setUint16(34, 8 * sampleBytes, true)
  writeText(head, 36, 'data')
  head.setUint32(40, bytes, true)
  return new Blob([head, samples.slice(0, bytes)], { type: 'audio/wav' })
}

function writeText(view: DataView, at: number, text: string): void {
  for (let i = 0; i < text.length; i++) view.setUint8(at + i, text.charCodeAt(i))
}

const textAt = (view: DataView, at: number) => String.fromCharCode(...[0, 1, 2, 3].map((i) => view.getUint8(at + i)))
