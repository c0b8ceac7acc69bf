// Replaces `tap` in a suite's process. The default export is the current file's test, so its teardowns run when the
// file ends. `t` is the whole process's test, as in tap itself.
export { t } from 'tap'

/** The exported binding is live: if it changes, every importer sees the change. */
let current

export { current as default }

export function setCurrentFile(test) {
  current = test
}
