(routine) @local.scope
(scope) @local.scope

(declaration name: (_) @local.definition.var)
(label name: (label_name) @local.definition)
(subroutine name: (_) @local.definition.function)

(identifier) @local.reference
