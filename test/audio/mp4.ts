/** Makes MP4 files from their boxes (the units of this format). The files have no real audio. */
import { bytes, text, u16, u32 } from './build.ts'

const turned = (little: Uint8Array) => little.slice().reverse()
const be16 = (value: number) => turned(u16(value))
export const be32 = (value: number) => turned(u32(value))
export const box = (type: string, ...content: (Uint8Array | readonly number[])[]) => {
  const body = bytes(...content)
  return bytes(be32(body.length + 8), text(type), body)
}
export const zeros = (count: number) => new Uint8Array(count)

export type Sound = {
  rateHz: number
  channels: number
  duration: number
  codec?: string
  handler?: string
  timescale?: number
}

export function trak(
  { rateHz, channels, duration, codec = 'mp4a', handler = 'soun', timescale = rateHz }: Sound,
  id = 1,
) {
  const entry = box(codec, zeros(6), be16(1), zeros(8), be16(channels), be16(16), zeros(4), be16(rateHz), be16(0))
  const stbl = box('stbl', box('stsd', zeros(4), be32(1), entry))
  const mdhd = box('mdhd', zeros(12), be32(timescale), be32(duration), zeros(4))
  const hdlr = box('hdlr', zeros(8), text(handler), zeros(13))
  return box('trak', box('tkhd', zeros(12), be32(id), zeros(68)), box('mdia', mdhd, hdlr, box('minf', stbl)))
}

export const ftyp = box('ftyp', text('M4A '), be32(0), text('M4A isom'))
export const mdat = box('mdat', zeros(5000))
