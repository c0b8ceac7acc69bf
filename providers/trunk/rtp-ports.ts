/** The audio of trunk legs, as the SIP code uses it. */
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
  /** Called for each key pressed by the other side. The sink receives the key too. */
  dtmf(digit: string): void
}

/** The other side's audio address and formats. `formats` lists further formats from which it may choose. */
export type RtpRemote = Pick<
  RemoteAudio,
  'address' | 'port' | 'encoding' | 'payloadType' | 'dtmfPayloadType' | 'direction'
> &
  Partial<Pick<RemoteAudio, 'formats'>>

export interface RtpLeg {
  /** The local port for incoming packets. */
  readonly port: number
  /** The jitter buffer's current delay for a new packet, in milliseconds. */
  readonly jitterMs: number
  /** Time since the other side's last packet, or since the audio began. Comfort noise and keys count too. */
  readonly quietMs: number
  /** The number of packets from the other side since the audio began. */
  readonly packets: number
  /** Starts the audio, or sends it to another address. */
  start(remote: RtpRemote): void
  /** Sends keys. Returns false if the other side can receive nothing now, for example while it holds the call. */
  sendDtmf(digits: string): boolean
  /** Handles a key reported in a SIP message. */
  pressed(digit: string, way: KeyWay): void
  /** From now on each leg receives the other leg's audio and keys instead of its conversation's. */
  connect(other: RtpLeg): void
  /** Closes the port. If the audio has begun, the sink receives `gone`. */
  close(): void
}
