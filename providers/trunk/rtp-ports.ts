/** Trunk legs' audio, as the signalling needs it. */
import type { MediaSink, MediaTransport } from '../../domain/ports/media.ts'
import type { KeyWay } from './pressed-keys.ts'
import type { RemoteAudio } from './sdp.ts'

export interface RtpPorts {
  /** Rejects if all ports are in use. */
  open(leg: RtpLegOptions): Promise<RtpLeg>
}

export type RtpLegOptions = {
  /** The conversation's sample rate. */
  sampleRateHz: number
  /** The source address of the call's SIP messages. */
  signalingAddress: string
  /** Called once, when the audio begins. */
  joined(transport: MediaTransport): MediaSink
  /** Called for each pressed key. The sink receives the key too. */
  dtmf(digit: string): void
}

/** `formats`: further formats the other side may send. */
export type RtpRemote = Pick<
  RemoteAudio,
  'address' | 'port' | 'encoding' | 'payloadType' | 'dtmfPayloadType' | 'direction'
> &
  Partial<Pick<RemoteAudio, 'formats'>>

export interface RtpLeg {
  /** The local port for incoming packets. */
  readonly port: number
  /** The jitter buffer's current delay for a new packet. */
  readonly jitterMs: number
  /** Time since the other side's last packet, or since the audio began. Comfort noise and keys count too. */
  readonly quietMs: number
  /** All packets from the other side since the audio began. */
  readonly packets: number
  /** Starts the audio, or moves it to another address. */
  start(remote: RtpRemote): void
  /** False: the other side can receive nothing now, for example while it holds the call. */
  sendDtmf(digits: string): boolean
  /** Handles a key reported in a SIP message. */
  pressed(digit: string, way: KeyWay): void
  /** From now on each leg receives the other leg's audio and keys instead of its conversation's. */
  connect(other: RtpLeg): void
  /** If the audio has begun, the sink receives `gone`. */
  close(): void
}
