// Replaces `tap` in a suite's process. The default export is the current file's test, so its teardowns run when the
// file ends. `t` is the whole process's test, as in tap itself.
export { t } from 'tap'

/** The exported variable is a live binding: after a change every importer sees the new value. */
let current

export { current as default }

export function setCurrentFile(test) {
  current = test
}
