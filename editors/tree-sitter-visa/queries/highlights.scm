; Names of captures are those that Neovim and Helix share; where they differ a node has both. The last pattern of a node
; decides.

(identifier) @variable
(predefined) @variable.builtin
(string) @string

(mnemonic) @keyword
(predicate name: (identifier) @variable.parameter)
(modifier) @keyword.operator

(routine kind: _ @keyword.directive)
(routine name: (_) @function)
(declaration kind: _ @keyword.directive)
(declaration name: (_) @variable)
(subroutine ".function" @keyword.directive)
(subroutine name: (_) @function)
(directive_name) @keyword.directive

(label_name) @label
(property key: (identifier) @variable.other.member @property)
((property key: (identifier) @_key value: (identifier) @type)
  (#eq? @_key "type"))

(number) @constant.numeric @number
(type) @type
(sign) @operator
(predicate ["!" "+" "-" "~"] @operator)
"=" @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket

(comment) @comment
(directive_comment) @comment.documentation
