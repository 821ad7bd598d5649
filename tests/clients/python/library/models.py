"""The models of the Django test."""
from django.db import models
from django.db.models import Q


class Shelf(models.Model):
    name = models.CharField(max_length=40, unique=True)


class Book(models.Model):
    shelf = models.ForeignKey(Shelf, on_delete=models.CASCADE, related_name="books")
    title = models.TextField()
    pages = models.PositiveIntegerField(default=0)
    bought = models.DateTimeField()
    data = models.JSONField(default=dict)
    weight = models.DecimalField(max_digits=6, decimal_places=3, null=True)

    class Meta:
        indexes = [models.Index(fields=["shelf", "-bought"], name="book_shelf_bought")]
        constraints = [models.CheckConstraint(condition=Q(pages__lt=10000), name="book_not_too_long")]
