"""Which tables a statement reads or writes for one given tenant, by its syntax tree.

Two tables are tied if an equality of their columns `tenant` joins them, and must hold; a table is
tied to the given tenant if such a chain ends at a parameter or a constant. That is what a database
that is distributed by tenant needs in order to run a statement on one node.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any, TypeAlias

from pglast import ast, parse_sql
from pglast.enums import A_Expr_Kind, BoolExprType

_GIVEN = "the given tenant"
_COLUMN = "tenant"
_BRACES = re.compile(r"\{\w+\}")
_NUMBER = "7"  # in place of braces, which stand for a partition's number or a width
_QUERIES = (ast.SelectStmt, ast.InsertStmt, ast.UpdateStmt, ast.DeleteStmt)

# Of a name in a query, the place of its column `tenant`; None if it has none.
_Names: TypeAlias = Mapping[str, str | None]


def untied(statement: str, columns: Mapping[str, Iterable[str]]) -> set[str]:
    """The tables that the statement reads or writes of more than the given tenant.

    columns: of each table. A table without a column `tenant` is never tied. A statement that
    defines or calls something uses no table.
    """
    ties = _Ties(columns)
    for parsed in parse_sql(_BRACES.sub(_NUMBER, statement)):
        if isinstance(parsed.stmt, _QUERIES):
            ties.query(parsed.stmt, {}, {})
    return {table for table, place in ties.tables if not ties.is_given(place)}


class _Ties:
    """tables: each use of a table, and the place of its column."""

    def __init__(self, columns: Mapping[str, Iterable[str]]) -> None:
        self.tables: list[tuple[str, str | None]] = []
        self._columns = columns
        self._same: dict[str, str] = {}  # towards the representative of tied places
        self._numbers = count()

    def is_given(self, place: str | None) -> bool:
        return place is not None and self._root(place) == self._root(_GIVEN)

    def query(self, query: Any, outer: _Names, views: _Names) -> str | None:
        """Tie what the query ties; the place of the column in its result, if it has one.

        views: the queries that WITH has named.
        """
        views = self._with(query, outer, views)
        names: dict[str, str | None] = {}
        if isinstance(query, ast.SelectStmt):
            return self._select(query, names, outer, views)
        name = query.relation.relname
        written = self._table(name)
        names[query.relation.alias.aliasname if query.relation.alias else name] = written
        if isinstance(query, ast.InsertStmt):
            self._insert(query, written, outer, views)
            self._within(query.onConflictClause, names, outer, views)
        else:
            is_update = isinstance(query, ast.UpdateStmt)
            for item in (query.fromClause if is_update else query.usingClause) or ():
                self._item(item, names, outer, views)
            self._condition(query.whereClause, names, outer)
            self._within(query.whereClause, names, outer, views)
            self._within(query.targetList if is_update else None, names, outer, views)
        return self._result(_returned(query), names, outer)

    def _with(self, query: Any, outer: _Names, views: _Names) -> _Names:
        known = dict(views)
        for view in query.withClause.ctes if query.withClause else ():
            if query.withClause.recursive:
                known[view.ctename] = self._new(view.ctename)
            place = self.query(view.ctequery, outer, known)
            if place and known.get(view.ctename):
                self._tie(place, known[view.ctename])
            known[view.ctename] = place
        return known

    def _select(
        self, query: Any, names: dict[str, str | None], outer: _Names, views: _Names
    ) -> str | None:
        if query.larg is not None:  # UNION and the like
            places = [self.query(part, outer, views) for part in (query.larg, query.rarg)]
            self._tie(*places)
            return places[0]
        for item in query.fromClause or ():
            self._item(item, names, outer, views)
        self._condition(query.whereClause, names, outer)
        parts = (query.targetList, query.whereClause, query.havingClause, query.valuesLists)
        self._within((*parts, query.sortClause, query.limitCount), names, outer, views)
        return self._result(query.targetList, names, outer)

    def _insert(self, query: Any, written: str | None, outer: _Names, views: _Names) -> None:
        source = query.selectStmt
        if source is None:
            return
        place = self.query(source, outer, views)
        columns = [column.name for column in query.cols or ()]
        if written is None or _COLUMN not in columns:
            return
        number = columns.index(_COLUMN)
        for row in source.valuesLists or ():
            self._equal(written, row[number], {}, outer)
        if source.targetList and number < len(source.targetList):
            self._equal(written, source.targetList[number].val, {}, outer)
        self._tie(written, place)

    def _item(self, item: Any, names: dict[str, str | None], outer: _Names, views: _Names) -> None:
        """An item of FROM."""
        if isinstance(item, ast.JoinExpr):
            left: dict[str, str | None] = {}
            right: dict[str, str | None] = {}
            self._item(item.larg, left, {**outer, **names}, views)
            self._item(item.rarg, right, {**outer, **names, **left}, views)
            names |= left | right
            if any(column.sval == _COLUMN for column in item.usingClause or ()):
                for place in (*left.values(), *right.values()):
                    self._tie(next(filter(None, left.values()), None), place)
            self._condition(item.quals, names, outer)
            self._within(item.quals, names, outer, views)
        elif isinstance(item, ast.RangeVar):
            name = item.relname
            place = views[name] if name in views else self._table(name)
            names[item.alias.aliasname if item.alias else name] = place
        elif isinstance(item, ast.RangeSubselect):
            known = {**outer, **names} if item.lateral else outer
            names[item.alias.aliasname] = self.query(item.subquery, known, views)
        elif isinstance(item, ast.RangeFunction) and item.alias:
            has_column = any(name.sval == _COLUMN for name in item.alias.colnames or ())
            names[item.alias.aliasname] = self._new("rows") if has_column else None

    def _condition(self, condition: Any, names: _Names, outer: _Names) -> None:
        """Tie by the equalities that must hold."""
        if isinstance(condition, ast.BoolExpr) and condition.boolop == BoolExprType.AND_EXPR:
            for part in condition.args:
                self._condition(part, names, outer)
        elif (
            isinstance(condition, ast.A_Expr)
            and condition.kind == A_Expr_Kind.AEXPR_OP
            and condition.name[0].sval == "="
        ):
            left, right = condition.lexpr, condition.rexpr
            is_row = isinstance(left, ast.RowExpr) and isinstance(right, ast.RowExpr)
            pairs = zip(left.args, right.args, strict=True) if is_row else [(left, right)]
            for one, other in pairs:
                place = self._place(one, names, outer)
                if place:
                    self._equal(place, other, names, outer)
                elif place := self._place(other, names, outer):
                    self._equal(place, one, names, outer)

    def _equal(self, place: str, value: Any, names: _Names, outer: _Names) -> None:
        value = value.arg if isinstance(value, ast.TypeCast) else value
        if isinstance(value, ast.ParamRef | ast.A_Const):
            self._tie(place, _GIVEN)
        else:
            self._tie(place, self._place(value, names, outer))

    def _place(self, value: Any, names: _Names, outer: _Names) -> str | None:
        """Of a reference to the column."""
        if not isinstance(value, ast.ColumnRef) or _name(value) != _COLUMN:
            return None
        if len(value.fields) > 1:
            alias = value.fields[0].sval
            return names[alias] if alias in names else outer.get(alias)
        return next(filter(None, (*names.values(), *outer.values())), None)

    def _result(self, targets: Any, names: _Names, outer: _Names) -> str | None:
        for target in targets or ():
            if isinstance(target.val, ast.ColumnRef) and _name(target.val) == "*":
                return next(filter(None, names.values()), None)
            if target.name in (None, _COLUMN):
                if place := self._place(target.val, names, outer):
                    return place
                if target.name and isinstance(target.val, ast.ParamRef | ast.TypeCast):
                    return _GIVEN
        return None

    def _within(self, node: Any, names: _Names, outer: _Names, views: _Names) -> None:
        """Queries in the expressions of a query."""
        if isinstance(node, tuple | list):
            for part in node:
                self._within(part, names, outer, views)
        elif isinstance(node, _QUERIES):
            self.query(node, {**outer, **names}, views)
        elif isinstance(node, ast.Node):
            for field in node.__slots__:
                self._within(getattr(node, field, None), names, outer, views)

    def _table(self, name: str) -> str | None:
        name = name.removesuffix(f"_{_NUMBER}")
        place = self._new(name) if _COLUMN in self._columns.get(name, ()) else None
        self.tables.append((name, place))
        return place

    def _new(self, name: str) -> str:
        return f"{name} {next(self._numbers)}"

    def _tie(self, one: str | None, other: str | None) -> None:
        if one and other:
            self._same[self._root(one)] = self._root(other)

    def _root(self, place: str) -> str:
        while (towards := self._same.get(place, place)) != place:
            place = towards
        return place


def _name(column: Any) -> str:
    last = column.fields[-1]
    return last.sval if isinstance(last, ast.String) else "*"


def _returned(query: Any) -> Any:
    clause = getattr(query, "returningClause", None)
    return clause.exprs if clause else getattr(query, "returningList", None)
