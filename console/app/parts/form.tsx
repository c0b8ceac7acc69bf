/** Has forms, longer texts, checkboxes, groups of fields, and the question before a deletion. */
import { type ComponentProps, type ReactNode, useContext, useMemo } from 'react'
import { issuesOf } from '../data/issues.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Field, type Labelled, useFieldNames } from './field.tsx'
import styles from './form.module.css'
import { FormContext } from './form-context.ts'
import { type FormValues, onSubmit } from './form-values.ts'
import { ActionFault } from './notice.tsx'

/** Asks for a text with several lines. */
export function AreaField({ label, note, ...rest }: ComponentProps<'textarea'> & Labelled) {
  const { isLocked } = useContext(FormContext)
  return (
    <Field label={label} note={note} name={rest.name}>
      {(names) => <textarea rows={4} className={styles.area} readOnly={isLocked} {...names} {...rest} />}
    </Field>
  )
}

export function CheckField({ label, note, ...rest }: ComponentProps<'input'> & Labelled) {
  const { field, below } = useFieldNames({ note, name: rest.name })
  const { isLocked } = useContext(FormContext)
  return (
    <div className={styles.check}>
      <input type="checkbox" disabled={isLocked} {...field} {...rest} />
      <div>
        <label htmlFor={field.id}>{label}</label>
        {below}
      </div>
    </div>
  )
}

/** Joins fields under a common name. */
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

/** A browser submits a form with one text field on Enter, even without a button. */
const ignore = () => undefined

export type FormProps = {
  submit: (values: FormValues) => void
  error?: unknown
  /** True if the person may only read the form. */
  isLocked?: boolean
  actions: ReactNode
  children: ReactNode
}

/** Draws a form. The browser keeps the fields' values, and `submit` gets the values. */
export function Form({ submit, error, isLocked = false, actions, children }: FormProps) {
  const context = useMemo(() => ({ issues: issuesOf(error), isLocked }), [error, isLocked])
  return (
    <form className={styles.form} onSubmit={onSubmit(isLocked ? ignore : submit)}>
      <FormContext value={context}>
        {children}
        <ActionFault error={error} />
        <div className={styles.actions}>{actions}</div>
      </FormContext>
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

/** Asks a person before an action that cannot be undone. */
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
