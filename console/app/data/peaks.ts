/**
 * Reads audiowaveform's format, version 2: a header in 24 bytes, then for each pixel the least and greatest sample in
 * both channels, as signed bytes. The caller is the first channel, the agent the second.
 */
/** `loudest` returns a part's loudness, from 0 to 1. 1 is the recording's loudest sample. */
export type Peaks = { lengthS: number; loudest: (channel: 0 | 1, fromS: number, toS: number) => number }

const headerBytes = 24
const bytesAPixel = 4
/** If the loudest sample is below this value, the whole recording is drawn as quiet. */
const quietest = 12

export function readPeaks(buffer: ArrayBuffer): Peaks | null {
  if (buffer.byteLength < headerBytes) return null
  const header = new DataView(buffer)
  const [version, sampleRate, samplesAPixel] = [
    header.getInt32(0, true),
    header.getInt32(8, true),
    header.getInt32(12, true),
  ]
  if (version !== 2 || header.getInt32(20, true) !== 2) return null
  const values = new Int8Array(buffer, headerBytes)
  const pixels = Math.floor(values.length / bytesAPixel)
  const pixelS = samplesAPixel / sampleRate
  const loudestOfAll = values.reduce((most, value) => Math.max(most, Math.abs(value)), quietest)
  return {
    lengthS: pixels * pixelS,
    loudest(channel, fromS, toS) {
      let most = 0
      const to = Math.min(pixels, Math.max(Math.floor(fromS / pixelS) + 1, Math.floor(toS / pixelS)))
      for (let pixel = Math.max(0, Math.floor(fromS / pixelS)); pixel < to; pixel++) {
        const at = pixel * bytesAPixel + channel * 2
        most = Math.max(most, Math.abs(values[at] ?? 0), Math.abs(values[at + 1] ?? 0))
      }
      return most / loudestOfAll
    },
  }
}
