import type { MediaSink } from '../../ports/media.ts'

/**
 * A conversation as one socket sees it. Another socket may take the seat: everything that this one still sends is then
 * ignored. `ends` has what its loss and a hang-up do while it has the seat.
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
