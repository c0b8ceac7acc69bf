/**
 * Plays a session's audio on the page's main thread, for pages without audio worklets: browsers disable worklets if a
 * page was loaded over http from another machine. The audio can stutter while the page is busy.
 */
import { Playout } from './playout.js'

/**
 * A block is 43 ms at 48 kHz: short enough to stop soon at an interruption, long enough to cover the page's drawing.
 */
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
