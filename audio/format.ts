/** How audio bytes are to be read. `container: raw` has no header: encoding, rate and channels come from the caller. */
export type Container = 'raw' | 'wav' | 'flac' | 'ogg' | 'mp3'

export type Encoding =
  | 'pcm_s16le'
  | 'pcm_f32le'
  | 'mulaw'
  | 'alaw'
  | 'pcm_u8'
  | 'pcm_s24le'
  | 'pcm_s32le'
  | 'opus'
  | 'flac'
  | 'mp3'

export type AudioFormat = {
  container: Container
  encoding: Encoding
  sampleRateHz: number
  channels: number
}

/** A whole recording as it arrived: chunks in order, never joined. `dataOffset` is where the samples start in a WAV or raw body. */
export type Recording = {
  chunks: readonly Uint8Array[]
  bytes: number
  format: AudioFormat
  dataOffset: number
  /** Bytes of sample data after `dataOffset`; for a compressed container the rest of the file. */
  dataBytes: number
  /** From the header where it says so, else from the frames. */
  durationMs: number
}

/** What a caller wants to hear. Raw samples, no header. */
export type OutputFormat = {
  encoding: 'pcm_s16le' | 'pcm_f32le' | 'mulaw' | 'alaw' | 'opus'
  sampleRateHz: number
  channels: number
}
