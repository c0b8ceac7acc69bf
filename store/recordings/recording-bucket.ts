/**
 * Stores recordings in an S3 bucket, or on a server with the same protocol. A recording's key is derived from its call:
 * `<prefix><organization>/<live|test>/<call>.wav`, and its peaks are beside it in `<call>.peaks`. So no bucket is ever
 * listed. Credentials come from the environment and the other sources of the AWS credential chain, never from settings.
 */
import { Readable } from 'node:stream'
import type { GetObjectCommandOutput, S3Client } from '@aws-sdk/client-s3'
import type { Clock } from '../../domain/ports/system.ts'
import type { RecordingBucket, RecordingContent, RecordingPlace } from '../../domain/records/recording.ts'
import { loadS3 } from '../../runtime/optional.ts'

export type BucketSettings = {
  bucket: string
  region: string
  endpoint: string | null
  prefix: string
  forcePathStyle: boolean
}

const connectMs = 5_000
/** The longest wait for the start of the bucket's response, and for each next piece of its body. */
const idleMs = 30_000
/**
 * The longest wait during an upload. It is longer than `idleMs`, because a server answers only after it has stored the
 * whole object.
 */
const uploadIdleMs = 120_000
/**
 * If a read's connection breaks, the read resumes at the same byte. After this many breaks without a new byte, it
 * fails.
 */
const breaksMax = 3
/** The peaks of a call of four hours have 2.9 MB. */
const peaksBytesMax = 16 * 1_048_576

type BucketObject = { Bucket: string; Key: string }

/** Opens the bucket. Throws if the AWS packages are missing. */
export async function openRecordingBucket(settings: BucketSettings, clock: Clock): Promise<RecordingBucket> {
  const s3 = await loadS3()
  const client = new s3.S3Client({
    region: settings.region,
    ...(settings.endpoint !== null && { endpoint: settings.endpoint }),
    forcePathStyle: settings.forcePathStyle,
    // Uploads are repeated from the file, and reads resume at the same byte. So the AWS client must not repeat
    // requests.
    maxAttempts: 1,
    // Sends checksums only if they are required, because many other servers with this protocol do not support the newer
    // checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: connectMs },
  })
  return new S3Recordings(s3, client, settings, clock)
}

class S3Recordings implements RecordingBucket {
  readonly #s3: Awaited<ReturnType<typeof loadS3>>
  readonly #client: S3Client
  readonly #settings: BucketSettings
  readonly #clock: Clock

  constructor(s3: Awaited<ReturnType<typeof loadS3>>, client: S3Client, settings: BucketSettings, clock: Clock) {
    this.#s3 = s3
    this.#client = client
    this.#settings = settings
    this.#clock = clock
  }

  async put(place: RecordingPlace, content: RecordingContent, signal: AbortSignal): Promise<void> {
    await this.#put(this.#objectOf(place), content, 'audio/wav', signal)
  }

  async keepPeaks(place: RecordingPlace, peaks: Uint8Array): Promise<void> {
    const content = { size: peaks.length, read: () => Readable.from([peaks]) }
    await this.#put(this.#objectOf(place, '.peaks'), content, 'application/octet-stream', null)
  }

  async #put(
    object: BucketObject,
    content: Pick<RecordingContent, 'size' | 'read'>,
    type: string,
    signal: AbortSignal | null,
  ): Promise<void> {
    const watch = new Idle(this.#clock, uploadIdleMs, signal)
    const body = Readable.from(watch.whileSent(content.read(0, content.size)), { objectMode: false })
    // The AWS client does not notice a broken body, so the upload is aborted here. Nor does it close the body.
    body.once('error', (error) => watch.fail(error))
    try {
      const command = new this.#s3.PutObjectCommand({
        ...object,
        Body: body,
        ContentLength: content.size,
        ContentType: type,
      })
      await this.#client.send(command, { abortSignal: watch.signal })
    } finally {
      watch.stop()
      body.destroy()
    }
  }

  async find(place: RecordingPlace): Promise<RecordingContent | null> {
    const watch = new Idle(this.#clock, idleMs, null)
    try {
      const command = new this.#s3.HeadObjectCommand(this.#objectOf(place))
      const {
        ContentLength: size,
        LastModified,
        ETag,
      } = await this.#client.send(command, { abortSignal: watch.signal })
      if (size === undefined) return null
      const read = (start: number, end: number) => this.#read(place, ETag, start, end)
      return { size, modifiedAtMs: LastModified?.getTime() ?? 0, read }
    } catch (error) {
      if (statusOf(error) === 404) return null
      throw error
    } finally {
      watch.stop()
    }
  }

  link(place: RecordingPlace, lifeS: number): Promise<string> {
    const command = new this.#s3.GetObjectCommand({
      ...this.#objectOf(place),
      ResponseContentType: 'audio/wav',
      ResponseContentDisposition: `inline; filename="call-${place.id}.wav"`,
      ResponseCacheControl: 'no-store',
    })
    return this.#s3.getSignedUrl(this.#client, command, { expiresIn: lifeS })
  }

  async findPeaks(place: RecordingPlace): Promise<Uint8Array | null> {
    const watch = new Idle(this.#clock, idleMs, null)
    try {
      const command = new this.#s3.GetObjectCommand(this.#objectOf(place, '.peaks'))
      const { Body } = await this.#client.send(command, { abortSignal: watch.signal })
      if (!(Body instanceof Readable)) throw new Error('the bucket sent no body')
      const pieces: Uint8Array[] = []
      let bytes = 0
      for await (const piece of watch.whileRead(Body)) {
        bytes += piece.length
        if (bytes > peaksBytesMax) throw new Error('the peaks in the bucket are too large')
        pieces.push(piece)
      }
      return Buffer.concat(pieces)
    } catch (error) {
      if (statusOf(error) === 404) return null
      throw error
    } finally {
      watch.stop()
    }
  }

  async remove(place: RecordingPlace): Promise<void> {
    // The audio is removed last, in case the process ends in between.
    await this.#remove(this.#objectOf(place, '.peaks'))
    await this.#remove(this.#objectOf(place))
  }

  async #remove(object: BucketObject): Promise<void> {
    const watch = new Idle(this.#clock, idleMs, null)
    try {
      await this.#client.send(new this.#s3.DeleteObjectCommand(object), { abortSignal: watch.signal })
    } catch (error) {
      if (statusOf(error) !== 404) throw error
    } finally {
      watch.stop()
    }
  }

  close(): void {
    this.#client.destroy()
  }

  #objectOf({ organizationId, test, id }: RecordingPlace, ending: '.wav' | '.peaks' = '.wav'): BucketObject {
    const { bucket, prefix } = this.#settings
    return { Bucket: bucket, Key: `${prefix}${organizationId}/${test ? 'test' : 'live'}/${id}${ending}` }
  }

  /**
   * Yields the recording's bytes. If our client reads slowly, the read from the bucket stalls, and the bucket's server
   * may end it. So a broken read resumes at the same byte, as long as the object is the same.
   */
  async *#read(
    place: RecordingPlace,
    etag: string | undefined,
    start: number,
    end: number,
  ): AsyncGenerator<Uint8Array> {
    let breaks = 0
    for (let at = start; at < end; ) {
      const watch = new Idle(this.#clock, idleMs, null)
      let body: Readable | null = null
      try {
        body = await this.#open(place, etag, at, end, watch.signal)
        for await (const piece of watch.whileRead(body)) {
          breaks = 0
          at += piece.length
          yield piece
        }
        if (at < end) throw new Error(`the bucket sent ${end - at} bytes too few`)
      } catch (error) {
        if (statusOf(error) !== null || ++breaks === breaksMax) throw error
      } finally {
        watch.stop()
        body?.destroy()
      }
    }
  }

  async #open(
    place: RecordingPlace,
    etag: string | undefined,
    start: number,
    end: number,
    abortSignal: AbortSignal,
  ): Promise<Readable> {
    const range = { Range: `bytes=${start}-${end - 1}`, ...(etag !== undefined && { IfMatch: etag }) }
    const command = new this.#s3.GetObjectCommand({ ...this.#objectOf(place), ...range })
    const { Body }: GetObjectCommandOutput = await this.#client.send(command, { abortSignal })
    if (!(Body instanceof Readable)) throw new Error('the bucket sent no body')
    return Body
  }
}

/** Aborts a request that makes no progress for `idleMs`, or when `outer` is aborted. */
class Idle {
  readonly #clock: Clock
  readonly #idleMs: number
  readonly #outer: AbortSignal | null
  readonly #abort = new AbortController()
  readonly #forward = () => this.#abort.abort(this.#outer?.reason)
  #cancel = () => {}

  constructor(clock: Clock, idleMs: number, outer: AbortSignal | null) {
    this.#clock = clock
    this.#idleMs = idleMs
    this.#outer = outer
    this.#renew()
    if (outer?.aborted) this.#forward()
    outer?.addEventListener('abort', this.#forward)
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Yields a response body's pieces. The time while the reader is busy with a piece does not count. */
  async *whileRead(body: Readable): AsyncGenerator<Uint8Array> {
    this.signal.addEventListener('abort', () => body.destroy(this.signal.reason as Error))
    this.#renew()
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      this.#cancel()
      yield piece
      this.#renew()
    }
  }

  /**
   * Yields a request body's pieces. The AWS client takes a piece only when it can send it, so each piece is progress.
   */
  async *whileSent(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      this.#renew()
      yield piece
    }
  }

  fail(error: Error): void {
    this.#abort.abort(error)
  }

  stop(): void {
    this.#cancel()
    this.#outer?.removeEventListener('abort', this.#forward)
  }

  #renew(): void {
    this.#cancel()
    this.#cancel = this.#clock.after(this.#idleMs, () => this.fail(new Error('the bucket makes no progress')))
  }
}

/** Returns the HTTP status of the bucket's response. Null if there was no response. */
function statusOf(error: unknown): number | null {
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } }
  return $metadata?.httpStatusCode ?? null
}
