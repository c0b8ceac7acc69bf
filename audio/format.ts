/**
 * The format for audio bytes. With `container: raw` there is no header: encoding, rate and channels come from the
 * calling code.
 */
export type Container = 'raw' | 'wav' | 'flac' | 'ogg' | 'mp3' | 'webm' | 'mp4' | 'aac'

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
  /** AAC in an MP4 file, and AAC as a stream of frames. Both are measured here but not decoded. */
  | 'aac'
  | 'aac_adts'

export type AudioFormat = {
  container: Container
  encoding: Encoding
  sampleRateHz: number
  channels: number
}

/**
 * A whole recording as received: chunks in order, never joined. In a WAV or raw body the samples start at `dataOffset`.
 */
export type Recording = {
  chunks: readonly Uint8Array[]
  bytes: number
  format: AudioFormat
  dataOffset: number
  /** The length in bytes after `dataOffset`. In a compressed container this is the rest of the file. */
  dataBytes: number
  /** The duration in the header. If the header states no duration, it is measured from the frames. */
  durationMs: number
}

/** Audio as it is sent to a client: raw samples without a header. */
export type OutputFormat = {
  encoding: 'pcm_s16le' | 'pcm_f32le' | 'mulaw' | 'alaw' | 'opus'
  sampleRateHz: number
  channels: number
}
