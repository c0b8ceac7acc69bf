/** The formats of a carrier's stream, with frames in each. */
import { type LineCodec, l16, pcma, pcmu } from '../../audio/line-codec.ts'
import { starts } from './setup.ts'

export const formats: {
  title: string
  frame: object
  codec: LineCodec
  rateHz: number
  outgoing: LineCodec
  outgoingHz: number
}[] = [
  { title: 'mu-law', frame: starts.snake('PCMU', 8000), codec: pcmu, rateHz: 8000, outgoing: pcmu, outgoingHz: 8000 },
  {
    title: 'mu-law by its older name',
    frame: starts.snake('audio/x-mulaw', 8000),
    codec: pcmu,
    rateHz: 8000,
    outgoing: pcmu,
    outgoingHz: 8000,
  },
  {
    title: 'A-law comes, mu-law goes',
    frame: starts.snake('PCMA', 8000),
    codec: pcma,
    rateHz: 8000,
    outgoing: pcmu,
    outgoingHz: 8000,
  },
  {
    title: 'L16 at 8 kHz',
    frame: starts.snake('L16', 8000),
    codec: l16,
    rateHz: 8000,
    outgoing: pcmu,
    outgoingHz: 8000,
  },
  {
    title: 'L16 at 16 kHz',
    frame: starts.snake('L16', 16_000),
    codec: l16,
    rateHz: 16_000,
    outgoing: l16,
    outgoingHz: 16_000,
  },
  {
    title: 'camel case',
    frame: starts.camel('audio/x-mulaw', 8000),
    codec: pcmu,
    rateHz: 8000,
    outgoing: pcmu,
    outgoingHz: 8000,
  },
]
