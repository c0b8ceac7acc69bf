// Replaces `tap` in the process of a suite. The default export is the test of the file that runs now, so that its
// teardowns run at its end. `t` is the test of the whole process, as in tap itself.
export { t } from 'tap'

/** A live binding: every importer sees the change. */
let current

export { current as default }

export function setCurrentFile(test) {
  current = test
}
