import type { MediaSink } from '../../ports/media.ts'

/**
 * Wraps a conversation's sink for one socket. Events from the socket are ignored after another socket has replaced it.
 * Until then, `ends` handles the socket's loss and the caller's hang-up.
 */
export function seatedSink(
  inner: MediaSink,
  isSeated: () => boolean,
  ends: Pick<MediaSink, 'gone' | 'hangUp'>,
): MediaSink {
  return {
    audio: (samples) => void (isSeated() && inner.audio(samples)),
    played: (mark) => void (isSeated() && inner.played(mark)),
    cleared: (mark, playedMs) => void (isSeated() && inner.cleared(mark, playedMs)),
    userMessage: (text) => void (isSeated() && inner.userMessage(text)),
    contextualUpdate: (text) => void (isSeated() && inner.contextualUpdate(text)),
    dtmf: (digits) => void (isSeated() && inner.dtmf(digits)),
    toolResult: (id, result, isError) => isSeated() && inner.toolResult(id, result, isError),
    gone: () => void (isSeated() && ends.gone()),
    back: (transport) => inner.back(transport),
    hangUp: () => void (isSeated() && ends.hangUp()),
  }
}
