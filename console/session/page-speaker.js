/**
 * A session's speaker on the page's thread, for pages without audio worklets: if a page comes over http from another
 * machine, browsers give it no worklets. A busy page can make this speaker stutter.
 */
import { Playout } from './playout.js'

/** A block is 43 ms at 48 kHz: short enough to stop soon at an interruption, long enough for a page that also draws. */
const blockSamples = 2048

export function pageSpeaker(context, { rateHz, latencyMs, onPlayed, onCleared }) {
  const playout = new Playout({ fromHz: rateHz, toHz: context.sampleRate, onPlayed, latencyMs })
  const node = context.createScriptProcessor(blockSamples, 0, 1)
  node.onaudioprocess = ({ outputBuffer }) => playout.pull(outputBuffer.getChannelData(0))
  return {
    node,
    play: (bytes) => playout.push(new Int16Array(bytes)),
    mark: (name) => playout.mark(name),
    clear: () => onCleared(playout.clear()),
  }
}
