/** More parts for forms: longer texts, switches, groups of fields, and the question before a deletion. */
import type { ComponentProps, ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Field, type Labelled, useFieldNames } from './field.tsx'
import styles from './form.module.css'
import { type FormValues, onSubmit } from './form-values.ts'
import { ActionFault } from './notice.tsx'

/** A field for a text in several lines. */
export function AreaField({ label, note, ...rest }: ComponentProps<'textarea'> & Labelled) {
  return (
    <Field label={label} note={note}>
      {(names) => <textarea rows={4} className={styles.area} {...names} {...rest} />}
    </Field>
  )
}

export function CheckField({ label, note, ...rest }: ComponentProps<'input'> & Labelled) {
  const { field, noteId } = useFieldNames(note)
  return (
    <div className={styles.check}>
      <input type="checkbox" {...field} {...rest} />
      <div>
        <label htmlFor={field.id}>{label}</label>
        {note !== undefined && <small id={noteId}>{note}</small>}
      </div>
    </div>
  )
}

/** A group of fields with a common label. */
export function FieldGroup({ label, note, children }: Labelled & { children: ReactNode }) {
  return (
    <fieldset className={styles.group}>
      <legend>{label}</legend>
      {note !== undefined && <small>{note}</small>}
      {children}
    </fieldset>
  )
}

export function FieldRow({ children }: { children: ReactNode }) {
  return <div className={styles.row}>{children}</div>
}

type FormProps = { submit: (values: FormValues) => void; error?: unknown; actions: ReactNode; children: ReactNode }

/** A form. Its fields keep their values themselves, and `submit` gets the values. */
export function Form({ submit, error, actions, children }: FormProps) {
  return (
    <form className={styles.form} onSubmit={onSubmit(submit)}>
      {children}
      <ActionFault error={error} />
      <div className={styles.actions}>{actions}</div>
    </form>
  )
}

type ConfirmProps = {
  title: string
  children: ReactNode
  action: string
  run: () => void
  isPending: boolean
  error?: unknown
  onClose: () => void
}

/** Asks before something is done that cannot be undone. */
export function ConfirmDialog({ title, children, action, run, isPending, error, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className={styles.form}>
        <div>{children}</div>
        <ActionFault error={error} />
        <div className={styles.actions}>
          <Button look="alarm" disabled={isPending} onClick={run}>
            {action}
          </Button>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
